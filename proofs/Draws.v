(** Uniform integers from words, by multiplication with rejection (csrc/draw.c; Lemire, 2019).

    Of W equally likely words w, those are kept whose product w n has a remainder by W of at least W mod n; the draw is the
    quotient.  Every r below n then has the same number of words, W / n of them, one after another.  That the kernel
    keeps these words and returns that quotient is proved of its code: the contract of dpf_draw_below. *)
From Coq Require Import ZArith Lia.
Open Scope Z_scope.

Definition kept (W n w : Z) : Prop := W mod n <= (w * n) mod W.

Definition first_word (W n r : Z) : Z := (r * W + W mod n + n - 1) / n.

(** The least integer whose product with n reaches x. *)
Lemma reaches n x w : 0 < n -> x <= w * n <-> (x + n - 1) / n <= w.
Proof.
  intros N. split; intros H.
  - apply Z.lt_succ_r, Z.div_lt_upper_bound; nia.
  - pose proof (Z.mul_succ_div_gt (x + n - 1) n N) as G. unfold Z.succ in G. nia.
Qed.

Theorem words_of_a_draw W n r w : 0 < n -> 0 < W ->
  (w * n / W = r /\ kept W n w) <-> first_word W n r <= w < first_word W n r + W / n.
Proof.
  intros N P. unfold kept, first_word. pose proof (Z.div_mod W n) as D. pose proof (Z.mod_pos_bound W n N) as T.
  pose proof (Z.div_mod (w * n) W) as E. pose proof (Z.mod_pos_bound (w * n) W P) as M.
  pose proof (reaches n (r * W + W mod n) w N) as Low. pose proof (reaches n (r * W + W mod n) (w - W / n) N) as High.
  assert (Q : (w - W / n) * n = w * n - (W - W mod n)) by nia. rewrite Q in High.
  split.
  - intros [R K]. rewrite R in E. split; [apply Low; lia|].
    destruct (Z_lt_le_dec w ((r * W + W mod n + n - 1) / n + W / n)) as [L|L]; [exact L|].
    assert (r * W + W mod n <= w * n - (W - W mod n)) by (apply High; lia). lia.
  - intros [L U]. apply Low in L.
    assert (B : w * n < r * W + W).
    { destruct (Z_lt_le_dec (w * n) (r * W + W)) as [B|B]; [exact B|].
      assert ((r * W + W mod n + n - 1) / n <= w - W / n) by (apply High; lia). lia. }
    assert (R : w * n / W = r) by (symmetry; apply (Z.div_unique_pos _ _ _ (w * n - r * W)); lia).
    split; [exact R|]. rewrite R in E. lia.
Qed.

(** All of them are words. *)
Theorem words_of_a_draw_are_words W n r : 0 < n <= W -> 0 <= r < n ->
  0 <= first_word W n r /\ first_word W n r + W / n <= W.
Proof.
  intros [N L] [R0 R1]. unfold first_word. pose proof (Z.div_mod W n) as D. pose proof (Z.mod_pos_bound W n N) as T.
  assert (P : 0 <= r * W) by nia. split; [apply Z.div_pos; lia|].
  assert ((r * W + W mod n + n - 1) / n <= W - W / n); [|lia]. apply (reaches n _ (W - W / n) N). nia.
Qed.

(** The kernel has W mod n from 64-bit arithmetic, as (W - n) mod n. *)
Theorem threshold_of_the_kernel W n : 0 < n -> (W - n) mod n = W mod n.
Proof. intros N. replace (W - n) with (W + (-1) * n) by ring. apply Z.mod_add. lia. Qed.
