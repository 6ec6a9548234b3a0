(** The privacy curve of greedy cover, for a limited and for any number of rounds, under both relations.

    This is the theorem of docs/privacy_theorems.md, "The curve of greedy cover", and of dpfast.accounting.curves.cover. *)
From Coq Require Import Reals Lra List Psatz Lia.
From Dpfast Require Import Sums Privacy.
Import ListNotations.
Open Scope R_scope.

(** * The curve *)

(** The potential F_{s,T}(v) = v f_{s,T}(-ln v), in its closed form. *)
Definition F (s : R) (T : nat) (v : R) : R :=
  if Rle_dec (exp s) v then v - 1
  else (exp s - 1) * (Rmax 0 (exp ((ln v + INR T * s) / INR (S T)) - 1) / (exp s - 1)) ^ S T.

(** The curve as it is printed. *)
Definition f (s : R) (T : nat) (x : R) : R :=
  if Rle_dec x (- s) then 1 - exp x
  else if Rle_dec (INR T * s) x then 0
  else (1 - exp (- s)) * (1 - (exp ((x + s) / INR (S T)) - 1) / (exp s - 1)) ^ S T.

(** Its limit for any number of rounds. *)
Definition f_any (s : R) (x : R) : R :=
  if Rle_dec x (- s) then 1 - exp x else (1 - exp (- s)) * exp (- (x + s) / (exp s - 1)).

(** A geometric mean of differences is at most the difference of the geometric means (Mahler). *)
Lemma mahler n x y : 0 <= y ->
  (exp x - 1) * (exp y - 1) ^ n <= Rmax 0 (exp ((x + INR n * y) / INR (S n)) - 1) ^ S n.
Proof.
  intros Hy. assert (N : 0 < INR (S n)) by (apply lt_0_INR; lia). assert (P := pos_INR n).
  assert (EY := exp_ge_1 y Hy). assert (R0 := pow_le _ (S n) (pos_nonneg (exp ((x + INR n * y) / INR (S n)) - 1))).
  destruct (Rle_dec x 0) as [Hx|Hx].
  { assert (0 <= (exp y - 1) ^ n) by (apply pow_le; lra). pose proof (exp_le_1 x Hx). nra. }
  destruct (Req_dec y 0) as [->|Hy0].
  { destruct n as [|n].
    - simpl INR. replace ((x + 0 * 0) / 1) with x by field. simpl. pose proof (pos_ge (exp x - 1)). lra.
    - rewrite exp_0. replace (1 - 1) with 0 by ring. rewrite pow_i by lia. lra. }
  set (k := (x + INR n * y) / INR (S n)) in *. set (a := / INR (S n)).
  assert (A : 0 <= a <= 1).
  { unfold a. split; [left; apply Rinv_0_lt_compat; auto|]. rewrite <- Rinv_1. apply Rinv_le_contravar; [lra|].
    rewrite S_INR. lra. }
  assert (B : a * INR (S n) = 1) by (unfold a; field; lra).
  assert (C : (1 - a) * INR (S n) = INR n) by (rewrite Rmult_minus_distr_r, B, S_INR; ring).
  assert (X1 : exp (- x) < 1) by (rewrite <- exp_0; apply exp_increasing; lra).
  assert (Y1 : exp (- y) < 1) by (rewrite <- exp_0; apply exp_increasing; lra).
  set (p := ln (1 - exp (- x))). set (q := ln (1 - exp (- y))).
  assert (Ep : exp p = 1 - exp (- x)) by (unfold p; rewrite exp_ln; lra).
  assert (Eq : exp q = 1 - exp (- y)) by (unfold q; rewrite exp_ln; lra).
  pose proof (exp_convex a p q A) as U. pose proof (exp_convex a (- x) (- y) A) as V.
  assert (K : a * - x + (1 - a) * - y = - k).
  { unfold k, Rdiv. fold a. replace (1 - a) with (INR n * a).
    2:{ rewrite <- C, Rmult_assoc, (Rmult_comm (INR (S n))), B. ring. }
    ring. }
  rewrite K in V. rewrite Ep, Eq in U.
  assert (W : exp (a * p + (1 - a) * q) <= 1 - exp (- k)) by lra.
  assert (W' := pow_incr _ _ (S n) (conj (Rlt_le _ _ (exp_pos _)) W)).
  rewrite exp_pow in W'. replace (INR (S n) * (a * p + (1 - a) * q)) with (p + INR n * q) in W'.
  2:{ rewrite <- C. replace p with (a * INR (S n) * p) at 1 by (rewrite B; ring). ring. }
  rewrite exp_plus, <- exp_pow, Ep, Eq in W'.
  assert (X : (exp x - 1) = exp x * (1 - exp (- x))).
  { rewrite Rmult_minus_distr_l, (Rmult_comm (exp x) (exp (- x))), exp_neg. ring. }
  assert (Y : (exp y - 1) = exp y * (1 - exp (- y))).
  { rewrite Rmult_minus_distr_l, (Rmult_comm (exp y) (exp (- y))), exp_neg. ring. }
  assert (Z : (exp k - 1) = exp k * (1 - exp (- k))).
  { rewrite Rmult_minus_distr_l, (Rmult_comm (exp k) (exp (- k))), exp_neg. ring. }
  apply Rle_trans with ((exp k - 1) ^ S n).
  - rewrite X, Y, Z, !Rpow_mult_distr, !exp_pow.
    replace (INR (S n) * k) with (x + INR n * y) by (unfold k; field; lra). rewrite exp_plus.
    pose proof (exp_pos x). pose proof (exp_pos (INR n * y)).
    assert (0 <= exp x * exp (INR n * y)) by nra. nra.
  - apply pow_incr. split; [|apply pos_ge].
    rewrite Z. apply Rmult_le_pos; [left; apply exp_pos|]. pose proof (exp_pos (a * p + (1 - a) * q)). lra.
Qed.

Lemma F_closed s T v : 0 < s -> v < exp s ->
  F s T v = Rmax 0 (exp ((ln v + INR T * s) / INR (S T)) - 1) ^ S T / (exp s - 1) ^ T.
Proof.
  intros Hs Hv. unfold F. destruct (Rle_dec (exp s) v); [lra|].
  assert (exp 0 < exp s) by (apply exp_increasing; auto). rewrite exp_0 in *.
  unfold Rdiv. rewrite Rpow_mult_distr, pow_inv. simpl. field. split; [apply pow_nonzero|]; lra.
Qed.

Lemma F_nonneg s T v : 0 <= s -> 0 <= F s T v.
Proof.
  intros Hs. pose proof (exp_ge_1 s Hs). unfold F. destruct (Rle_dec (exp s) v); [lra|].
  destruct (Req_dec (exp s - 1) 0) as [E|E]; [rewrite E; lra|].
  apply Rmult_le_pos; [lra|]. apply pow_le. apply Rmult_le_pos; [apply pos_nonneg|].
  left; apply Rinv_0_lt_compat; lra.
Qed.

Lemma F_below s T v : 0 <= s -> 0 < v -> v - 1 <= F s T v.
Proof.
  intros Hs Hv. pose proof (F_nonneg s T v Hs). destruct (Rle_dec v 1); [lra|].
  destruct (Rle_dec (exp s) v) as [H'|H'].
  { unfold F. destruct (Rle_dec (exp s) v); lra. }
  assert (0 < s). { destruct Hs as [|<-]; auto. rewrite exp_0 in *. lra. }
  rewrite F_closed by lra. pose proof (mahler T (ln v) s Hs) as M. rewrite exp_ln in M by auto.
  assert (exp 0 < exp s) by (apply exp_increasing; auto). rewrite exp_0 in *.
  apply Rmult_le_reg_r with ((exp s - 1) ^ T); [apply pow_lt; lra|].
  unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r; [auto|]. apply pow_nonzero; lra.
Qed.

(** The chord: what a jump by d < 0 leaves. *)
Lemma F_chord s T v d : 0 < s -> 0 < v < exp s -> - s <= d <= 0 ->
  F (s + d) T (v * exp d) <= F s T v * ((exp (s + d) - 1) / (exp s - 1)).
Proof.
  intros Hs [Hv0 Hv] [Hd1 Hd0]. pose proof (exp_pos d) as D0.
  assert (S1 : exp 0 < exp s) by (apply exp_increasing; auto). rewrite exp_0 in S1.
  assert (N : 0 < INR (S T)) by (apply lt_0_INR; lia).
  assert (W1 := exp_le_1 d Hd0). assert (Esd : exp (s + d) = exp s * exp d) by apply exp_plus.
  assert (A1 : 1 <= exp (s + d)) by (apply exp_ge_1; lra).
  unfold F. destruct (Rle_dec (exp s) v); [lra|].
  destruct (Rle_dec (exp (s + d)) (v * exp d)) as [H'|H'].
  { rewrite Esd in H'. apply Rmult_le_reg_r in H'; auto. lra. }
  rewrite ln_mult, ln_exp by auto.
  replace ((ln v + d + INR T * (s + d)) / INR (S T)) with ((ln v + INR T * s) / INR (S T) + d)
    by (rewrite S_INR in *; field; lra).
  set (k := (ln v + INR T * s) / INR (S T)).
  assert (Hk : k < s).
  { apply Rmult_lt_reg_r with (INR (S T)); auto. unfold k, Rdiv. rewrite Rmult_assoc, Rinv_l by lra.
    rewrite Rmult_1_r, S_INR. assert (ln v < s). { rewrite <- (ln_exp s). apply ln_increasing; auto. } lra. }
  assert (Ek : exp k < exp s) by (apply exp_increasing; auto).
  destruct (Req_dec (exp (s + d)) 1) as [E|E].
  { rewrite E. unfold Rdiv. lra. }
  rewrite (Rmult_comm (exp s - 1)), Rmult_assoc.
  replace ((exp s - 1) * ((exp (s + d) - 1) / (exp s - 1))) with (exp (s + d) - 1) by (field; lra).
  rewrite Rmult_comm. apply Rmult_le_compat_r; [lra|]. apply pow_incr. split.
  - apply Rmult_le_pos; [apply pos_nonneg|]. left; apply Rinv_0_lt_compat; lra.
  - apply Rmult_le_reg_r with (exp (s + d) - 1); [lra|].
    unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
    assert (C : (exp (k + d) - 1) * (exp s - 1) <= (exp k - 1) * (exp (s + d) - 1)).
    { rewrite !exp_plus. nra. }
    assert (I : 0 < / (exp s - 1)) by (apply Rinv_0_lt_compat; lra).
    apply pos_le.
    + apply Rmult_le_pos; [|lra]. apply Rmult_le_pos; [apply pos_nonneg|lra].
    + apply Rle_trans with ((exp k - 1) * / (exp s - 1) * (exp (s + d) - 1)).
      * apply Rmult_le_reg_r with (exp s - 1); [lra|].
        replace ((exp k - 1) * / (exp s - 1) * (exp (s + d) - 1) * (exp s - 1)) with
          ((exp k - 1) * (exp (s + d) - 1)) by (field; lra). auto.
      * apply Rmult_le_compat_r; [lra|]. apply Rmult_le_compat_r; [lra|]. apply pos_ge.
Qed.

Lemma F_slope s T v : 0 < s -> 0 < v < exp s -> F s T v <= v * (1 - exp (- s)).
Proof.
  intros Hs [Hv0 Hv]. unfold F. destruct (Rle_dec (exp s) v); [lra|].
  assert (S1 : exp 0 < exp s) by (apply exp_increasing; auto). rewrite exp_0 in S1.
  assert (N : 0 < INR (S T)) by (apply lt_0_INR; lia).
  set (k := (ln v + INR T * s) / INR (S T)).
  assert (Hk : INR (S T) * (k - s) = ln v - s) by (unfold k; rewrite S_INR in *; field; lra).
  assert (Hl : ln v < s) by (rewrite <- (ln_exp s); apply ln_increasing; auto).
  assert (Hks : k - s <= 0) by nra.
  assert (R : Rmax 0 (exp k - 1) / (exp s - 1) <= exp (k - s)).
  { apply Rmult_le_reg_r with (exp s - 1); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
    pose proof (exp_pos (k - s)). pose proof (exp_le_1 _ Hks).
    apply pos_le; [nra|]. replace (exp k) with (exp (k - s) * exp s) by (rewrite <- exp_plus; f_equal; ring). nra. }
  assert (P : (Rmax 0 (exp k - 1) / (exp s - 1)) ^ S T <= exp (ln v - s)).
  { rewrite <- Hk, <- exp_pow. apply pow_incr. split; auto.
    apply Rmult_le_pos; [apply pos_nonneg|left; apply Rinv_0_lt_compat; lra]. }
  apply Rle_trans with ((exp s - 1) * exp (ln v - s)).
  - apply Rmult_le_compat_l; [lra|auto].
  - unfold Rminus at 2. rewrite exp_plus, exp_ln by auto. pose proof (exp_neg s). nra.
Qed.

(** ** One round does not raise the mean of the potential *)

Section Round.
  Context {C : Type} (l : list C) (q d : C -> R).
  Hypothesis q_nonneg : forall c, In c l -> 0 <= q c.
  Hypothesis q_sum : Sum l q = 1.

  Definition G s T v c : R :=
    if Rle_dec 0 (d c) then exp (d c) * F s T v else F (s + d c) T (v * exp (d c)).

  Lemma one_round s T v :
    0 <= s -> 0 < v -> (forall c, In c l -> - s <= d c) -> 0 < Sum l (fun c => q c * exp (d c)) ->
    Sum l (fun c => q c * G s T v c) <= F s (S T) (v * Sum l (fun c => q c * exp (d c))).
  Proof.
    intros Hs Hv Hd Hm. set (m := Sum l (fun c => q c * exp (d c))) in *.
    assert (Hvm : 0 < v * m) by nra.
    assert (MeanG : forall A B, (forall c, In c l -> G s T v c <= A * exp (d c) + B) ->
              Sum l (fun c => q c * G s T v c) <= A * m + B).
    { intros A B H. apply Rle_trans with (Sum l (fun c => A * (q c * exp (d c)) + q c * B)).
      - apply Sum_le. intros c I. pose proof (H c I). pose proof (q_nonneg c I). nra.
      - rewrite Sum_plus, Sum_scal, Sum_scal_r, q_sum. fold m. lra. }
    destruct (Rle_dec (exp s) v) as [H|H].
    { apply Rle_trans with (v * m + - 1); [|pose proof (F_below s (S T) _ Hs Hvm); lra].
      apply MeanG. intros c I. unfold G. specialize (Hd c I). pose proof (exp_pos (d c)).
      destruct (Rle_dec 0 (d c)) as [P|P].
      - pose proof (exp_ge_1 _ P). unfold F. destruct (Rle_dec (exp s) v); nra.
      - unfold F. rewrite exp_plus. destruct (Rle_dec (exp s * exp (d c)) (v * exp (d c))) as [Q|Q]; [lra|].
        exfalso. apply Q. apply Rmult_le_compat_r; lra. }
    apply Rnot_le_lt in H.
    destruct Hs as [Hs|<-].
    2:{ apply Rle_trans with (0 * m + 0); [|pose proof (F_nonneg 0 (S T) (v * m) (Rle_refl 0)); lra].
        apply MeanG. intros c I. specialize (Hd c I). unfold G. destruct (Rle_dec 0 (d c)); [|lra].
        rewrite exp_0 in H. unfold F. rewrite exp_0. destruct (Rle_dec 1 v); [lra|]. lra. }
    assert (S1 : exp 0 < exp s) by (apply exp_increasing; auto). rewrite exp_0 in S1.
    assert (F0 := F_nonneg s T v (Rlt_le _ _ Hs)).
    (* below the chord *)
    assert (Chord : forall c, In c l -> G s T v c <= F s T v * ((exp s * exp (d c) - 1) / (exp s - 1))).
    { intros c I. specialize (Hd c I). unfold G. destruct (Rle_dec 0 (d c)) as [P|P].
      - rewrite Rmult_comm. apply Rmult_le_compat_l; auto. pose proof (exp_ge_1 _ P).
        apply Rmult_le_reg_r with (exp s - 1); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. nra.
      - rewrite <- exp_plus. apply F_chord; lra. }
    destruct (Rle_dec (exp s) (v * m)) as [H'|H'].
    - (* few candidates err: G(z) <= z F(v) *)
      apply Rle_trans with (F s T v * m + 0).
      + apply MeanG. intros c I. specialize (Hd c I). unfold G. destruct (Rle_dec 0 (d c)) as [P|P]; [lra|].
        apply Rle_trans with (1 := F_chord s T v (d c) Hs (conj Hv H) (conj Hd (Rlt_le _ _ (Rnot_le_lt _ _ P)))).
        rewrite Rplus_0_r. apply Rmult_le_compat_l; auto.
        pose proof (exp_le_1 (d c)). apply Rmult_le_reg_r with (exp s - 1); [lra|].
        unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. rewrite exp_plus. nra.
      + unfold F at 2. destruct (Rle_dec (exp s) (v * m)); [|lra].
        pose proof (F_slope s T v Hs (conj Hv H)). pose proof (exp_neg s). pose proof (exp_pos (- s)).
        assert (1 <= v * m * exp (- s)) by nra. nra.
    - apply Rnot_le_lt in H'.
      apply Rle_trans with (F s T v / (exp s - 1) * exp s * m + - (F s T v / (exp s - 1))).
      { apply MeanG. intros c I. eapply Rle_trans; [apply Chord; auto|]. apply Req_le. field. lra. }
      rewrite F_closed by auto. rewrite F_closed by auto.
      set (k := (ln v + INR T * s) / INR (S T)).
      assert (N : 0 < INR (S T)) by (apply lt_0_INR; lia). assert (N' : 0 < INR (S (S T))) by (apply lt_0_INR; lia).
      rewrite ln_mult by auto.
      replace ((ln v + ln m + INR (S T) * s) / INR (S (S T))) with ((ln m + s + INR (S T) * k) / INR (S (S T))).
      2:{ unfold k. rewrite !S_INR in *. field. lra. }
      assert (PB : 0 < (exp s - 1) ^ T) by (apply pow_lt; lra).
      assert (Key : (exp s * m - 1) * Rmax 0 (exp k - 1) ^ S T <=
                    Rmax 0 (exp ((ln m + s + INR (S T) * k) / INR (S (S T))) - 1) ^ S (S T)).
      { destruct (Rle_dec 0 k) as [K|K].
        - pose proof (mahler (S T) (ln m + s) k K) as M. rewrite exp_plus, exp_ln in M by auto.
          rewrite (Rmax_right 0 (exp k - 1)) by (pose proof (exp_ge_1 k K); lra). rewrite (Rmult_comm (exp s)). auto.
        - rewrite (Rmax_left 0 (exp k - 1)) by (pose proof (exp_le_1 k); lra).
          rewrite pow_i by lia. rewrite Rmult_0_r. apply pow_le, pos_nonneg. }
      apply Rmult_le_reg_r with ((exp s - 1) ^ S T); [apply pow_lt; lra|].
      match goal with |- _ <= ?A / ?B * ?B => replace (A / B * B) with A by (field; apply pow_nonzero; lra) end.
      eapply Rle_trans; [|apply Key]. apply Req_le. simpl. field. split; [apply pow_nonzero|]; lra.
  Qed.
End Round.

(** * A run of draws

    [cand h] are the candidates after the draws h (latest first), [wP h c] and [wQ h c] their weights on two tables,
    wP = wQ e^d.  A state (u, s) bounds what the weights of this and later rounds can raise and lower P against Q. *)
Section Run.
  Context {C : Type} (cand : list C -> list C) (wP wQ d : list C -> C -> R).
  Hypothesis cand_some : forall h, cand h <> [].
  Hypothesis wQ_pos : forall h c, 0 < wQ h c.
  Hypothesis wP_d : forall h c, wP h c = wQ h c * exp (d h c).

  Definition draw (w : list C -> C -> R) h c : R := w h c / Sum (cand h) (w h).

  Fixpoint lists (T : nat) (h : list C) : list (list C) :=
    match T with
    | O => [[]]
    | S T => flat_map (fun c => map (cons c) (lists T (c :: h))) (cand h)
    end.

  Fixpoint list_law (w : list C -> C -> R) (h o : list C) : R :=
    match o with
    | [] => 1
    | c :: o => draw w h c * list_law w (c :: h) o
    end.

  Fixpoint value (T : nat) (h : list C) (a b : R) : R :=
    match T with
    | O => Rmax 0 (a - b)
    | S T => Sum (cand h) (fun c => value T (c :: h) (a * draw wP h c) (b * draw wQ h c))
    end.

  Lemma value_is_hockey T : forall h a b,
    value T h a b = Sum (lists T h) (fun o => Rmax 0 (a * list_law wP h o - b * list_law wQ h o)).
  Proof.
    induction T as [|T IH]; intros h a b; simpl.
    - rewrite !Rmult_1_r. ring.
    - rewrite Sum_flat_map. apply Sum_ext. intros c _. rewrite Sum_map, IH. apply Sum_ext. intros o _. simpl.
      f_equal. ring.
  Qed.

  Fixpoint bounded (T : nat) (u s : R) (h : list C) : Prop :=
    match T with
    | O => True
    | S T => forall c, In c (cand h) ->
        - s <= d h c <= u /\ bounded T (u - Rmax 0 (d h c)) (s + Rmin 0 (d h c)) (c :: h)
    end.

  Theorem potential T : forall h u s a b,
    0 <= u -> 0 <= s -> 0 < a -> 0 < b -> bounded T u s h ->
    value T h a b <= b * (exp (- u) * F s T (exp u * (a / b))).
  Proof.
    induction T as [|T IH]; intros h u s a b Hu Hs Ha Hb H.
    - simpl value. assert (I : 0 < / b) by (apply Rinv_0_lt_compat; auto).
      assert (V : 0 < exp u * (a / b)) by (apply Rmult_lt_0_compat; [apply exp_pos|apply Rmult_lt_0_compat; auto]).
      pose proof (F_nonneg s 0 (exp u * (a / b)) Hs). pose proof (F_below s 0 _ Hs V).
      pose proof (exp_pos (- u)). pose proof (exp_le_1 (- u)).
      apply pos_le; [apply Rmult_le_pos; [lra|apply Rmult_le_pos; lra]|].
      assert (E : exp (- u) * (exp u * (a / b) - 1) = a / b - exp (- u)).
      { rewrite Rmult_minus_distr_l, <- Rmult_assoc, exp_neg. ring. }
      assert (B : a / b - exp (- u) <= exp (- u) * F s 0 (exp u * (a / b))).
      { rewrite <- E. apply Rmult_le_compat_l; lra. }
      apply Rle_trans with (b * (a / b - exp (- u))); [|apply Rmult_le_compat_l; lra].
      replace (b * (a / b - exp (- u))) with (a - b * exp (- u)) by (field; lra).
      assert (b * exp (- u) <= b * 1) by (apply Rmult_le_compat_l; lra). lra.
    - simpl value. simpl in H.
      assert (ZQ : 0 < Sum (cand h) (wQ h)) by (apply Sum_pos; auto).
      assert (ZP : 0 < Sum (cand h) (wP h)).
      { apply Sum_pos; auto. intros c _. rewrite wP_d. apply Rmult_lt_0_compat; [auto|apply exp_pos]. }
      set (q := draw wQ h). set (m := Sum (cand h) (fun c => q c * exp (d h c))).
      assert (Hm : m = Sum (cand h) (wP h) / Sum (cand h) (wQ h)).
      { unfold m, q, draw, Rdiv. rewrite <- Sum_scal_r. apply Sum_ext. intros c _. rewrite wP_d. ring. }
      assert (M0 : 0 < m) by (rewrite Hm; apply Rdiv_lt_0_compat; auto).
      assert (Q0 : forall c, 0 < q c) by (intros c; apply Rdiv_lt_0_compat; auto).
      assert (Q1 : Sum (cand h) q = 1).
      { unfold q, draw, Rdiv. rewrite Sum_scal_r. field. lra. }
      assert (DP : forall c, draw wP h c = q c * (exp (d h c) / m)).
      { intros c. rewrite Hm. unfold q, draw. rewrite wP_d. field. lra. }
      set (v := exp u * (a / (b * m))).
      assert (BM : 0 < b * m) by nra.
      assert (V0 : 0 < v) by (apply Rmult_lt_0_compat; [apply exp_pos|apply Rdiv_lt_0_compat; auto]).
      apply Rle_trans with (b * exp (- u) * Sum (cand h) (fun c => q c * G (d h) s T v c)).
      + rewrite <- Sum_scal. apply Sum_le. intros c I. destruct (H c I) as [[D1 D2] B].
        pose proof (exp_pos (d h c)) as DE.
        eapply Rle_trans; [apply IH with (u := u - Rmax 0 (d h c)) (s := s + Rmin 0 (d h c)); auto|].
        * unfold Rmax. destruct (Rle_dec 0 (d h c)); lra.
        * unfold Rmin. destruct (Rle_dec 0 (d h c)); lra.
        * rewrite DP. apply Rmult_lt_0_compat; auto. apply Rmult_lt_0_compat; auto. apply Rdiv_lt_0_compat; auto.
        * apply Rmult_lt_0_compat; auto.
        * fold (q c). rewrite DP. specialize (Q0 c).
          replace (a * (q c * (exp (d h c) / m)) / (b * q c)) with (a / (b * m) * exp (d h c)) by (field; lra).
          unfold G. destruct (Rle_dec 0 (d h c)) as [P|P].
          -- rewrite Rmax_right, Rmin_left by lra. rewrite Rplus_0_r.
             replace (exp (u - d h c) * (a / (b * m) * exp (d h c))) with v.
             2:{ unfold v. replace u with (u - d h c + d h c) at 1 by ring. rewrite exp_plus. ring. }
             replace (- (u - d h c)) with (- u + d h c) by ring. rewrite exp_plus. apply Req_le. ring.
          -- rewrite Rmax_left, Rmin_right by lra. rewrite Rminus_0_r.
             replace (exp u * (a / (b * m) * exp (d h c))) with (v * exp (d h c)) by (unfold v; ring).
             apply Req_le. ring.
      + rewrite Rmult_assoc. apply Rmult_le_compat_l; [lra|]. apply Rmult_le_compat_l; [left; apply exp_pos|].
        replace (exp u * (a / b)) with (v * m) by (unfold v; field; lra).
        apply one_round; auto.
        * intros c _. left; auto.
        * intros c I. destruct (H c I) as [[D1 _] _]. auto.
  Qed.
End Run.

Lemma F_is_f s T x : 0 <= s -> exp x * F s T (exp (- x)) <= f s T x.
Proof.
  intros Hs. unfold f, F.
  assert (N : 0 < INR (S T)) by (apply lt_0_INR; lia).
  destruct (Rle_dec x (- s)) as [A|A].
  - destruct (Rle_dec (exp s) (exp (- x))) as [B|B].
    + pose proof (exp_neg x). lra.
    + exfalso. apply B. apply exp_le. lra.
  - destruct (Rle_dec (exp s) (exp (- x))) as [B|B].
    + exfalso. apply Rnot_le_lt in A. assert (exp (- x) < exp s) by (apply exp_increasing; lra). lra.
    + rewrite ln_exp. destruct (Rle_dec (INR T * s) x) as [D|D].
      * rewrite Rmax_left.
        { unfold Rdiv. rewrite Rmult_0_l, pow_i by lia. lra. }
        assert (exp ((- x + INR T * s) / INR (S T)) <= 1); [|lra].
        apply exp_le_1. apply Rmult_le_reg_r with (INR (S T)); auto.
        unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
      * assert (S0 : 0 < s).
        { destruct Hs as [|<-]; auto. lra. }
        assert (S1 : exp 0 < exp s) by (apply exp_increasing; auto). rewrite exp_0 in S1.
        set (h := (x + s) / INR (S T)).
        assert (Hh : INR (S T) * h = x + s) by (unfold h; field; lra).
        replace ((- x + INR T * s) / INR (S T)) with (s - h).
        2:{ apply Rmult_eq_reg_r with (INR (S T)); [|lra].
            replace ((- x + INR T * s) / INR (S T) * INR (S T)) with (- x + INR T * s) by (field; lra).
            rewrite S_INR in *. lra. }
        assert (SH : 0 <= s - h).
        { apply Rmult_le_reg_l with (INR (S T)); auto. rewrite Rmult_0_r, Rmult_minus_distr_l, Hh, S_INR. lra. }
        rewrite Rmax_right by (pose proof (exp_ge_1 _ SH); lra).
        replace (exp x) with ((exp h) ^ S T * exp (- s)).
        2:{ rewrite exp_pow, Hh, <- exp_plus. f_equal. ring. }
        replace (1 - (exp h - 1) / (exp s - 1)) with (exp h * ((exp (s - h) - 1) / (exp s - 1))).
        2:{ replace (exp s) with (exp h * exp (s - h)) by (rewrite <- exp_plus; f_equal; ring).
            field. replace (exp h * exp (s - h)) with (exp s) by (rewrite <- exp_plus; f_equal; ring). lra. }
        rewrite Rpow_mult_distr. pose proof (exp_neg s).
        apply Req_le.
        replace (1 - exp (- s)) with (exp (- s) * (exp s - 1)) by lra. ring.
Qed.

Lemma f_nonneg s T x : 0 <= s -> 0 <= f s T x.
Proof.
  intros Hs. pose proof (F_nonneg s T (exp (- x)) Hs). pose proof (exp_pos x).
  pose proof (F_is_f s T x Hs). nra.
Qed.

(** Pure from T s on. *)
Lemma f_zero s T x : 0 <= s -> 0 <= x -> INR T * s <= x -> f s T x <= 0.
Proof.
  intros Hs Hx H. unfold f. destruct (Rle_dec x (- s)).
  - assert (x = 0) by lra. subst x. rewrite exp_0. lra.
  - destruct (Rle_dec (INR T * s) x); lra.
Qed.

(** No number of rounds goes beyond the limit. *)
Lemma f_below_f_any s T x : 0 <= s -> f s T x <= f_any s x.
Proof.
  intros Hs. unfold f, f_any. destruct (Rle_dec x (- s)) as [A|A]; [lra|].
  assert (N : 0 < INR (S T)) by (apply lt_0_INR; lia).
  assert (0 <= 1 - exp (- s)) by (pose proof (exp_le_1 (- s)); lra).
  destruct (Rle_dec (INR T * s) x) as [D|D].
  { apply Rmult_le_pos; auto. left; apply exp_pos. }
  assert (S0 : 0 < s). { destruct Hs as [|<-]; auto. lra. }
  assert (S1 : exp 0 < exp s) by (apply exp_increasing; auto). rewrite exp_0 in S1.
  apply Rmult_le_compat_l; auto. set (h := (x + s) / INR (S T)).
  assert (Hh : INR (S T) * h = x + s) by (unfold h; field; lra).
  assert (I : 0 < / (exp s - 1)) by (apply Rinv_0_lt_compat; lra).
  assert (HS : h <= s).
  { apply Rmult_le_reg_l with (INR (S T)); auto. rewrite Hh, S_INR. lra. }
  apply Rle_trans with (exp (- (h / (exp s - 1))) ^ S T).
  - apply pow_incr. split.
    + assert (E : (exp h - 1) / (exp s - 1) <= 1); [|lra].
      apply Rmult_le_reg_r with (exp s - 1); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra.
      pose proof (exp_le _ _ HS). lra.
    + pose proof (exp_ineq1_le (- (h / (exp s - 1)))). pose proof (exp_ineq1_le h).
      assert (h / (exp s - 1) <= (exp h - 1) / (exp s - 1)) by (apply Rmult_le_compat_r; lra). lra.
  - rewrite exp_pow. apply exp_le. apply Req_le. rewrite <- Hh. field. lra.
Qed.

(** What a bounded run costs. *)
Theorem run_curve {C} (cand : list C -> list C) (wP wQ d : list C -> C -> R) u s E T h :
  (forall h, cand h <> []) -> (forall h c, 0 < wQ h c) -> (forall h c, wP h c = wQ h c * exp (d h c)) ->
  0 <= u -> 0 <= s -> bounded cand d T u s h ->
  private (lists cand T h) E (f s T (E - u)) (list_law cand wP h) (list_law cand wQ h).
Proof.
  intros H1 H2 H3 Hu Hs B. unfold private, hockey.
  pose proof (value_is_hockey cand wP wQ T h 1 (exp E)) as V.
  rewrite (Sum_ext _ _ (fun o => Rmax 0 (1 * list_law cand wP h o - exp E * list_law cand wQ h o))).
  2:{ intros; rewrite Rmult_1_l; auto. }
  rewrite <- V. eapply Rle_trans.
  - apply potential with (d := d) (u := u) (s := s); auto; [lra|apply exp_pos].
  - eapply Rle_trans; [|apply F_is_f; auto].
    replace (exp u * (1 / exp E)) with (exp (- (E - u))).
    2:{ replace (- (E - u)) with (u + - E) by ring. rewrite exp_plus, exp_Ropp. field.
        pose proof (exp_pos E). lra. }
    rewrite <- Rmult_assoc, <- exp_plus. apply Req_le. do 2 f_equal.
Qed.

(** * Greedy cover of tables *)
Section Lists.
  Context {Row C : Type}.
  Variable covers errs : C -> Row -> bool.
  (** All of these may look at the rules drawn so far, and at no other row. *)
  Variable cand : list C -> list C.
  Variable mass : list C -> C -> R.
  Variable coverage error : list C -> C -> Row -> R.
  Variable t g : R.
  Hypothesis cand_some : forall h, cand h <> [].
  Hypothesis mass_pos : forall h c, 0 < mass h c.
  Hypothesis coverage_bounds : forall h c z, 0 <= coverage h c z <= g.
  Hypothesis error_bounds : forall h c z, 0 <= error h c z <= 1.
  Hypothesis t_nonneg : 0 <= t.
  Hypothesis g_nonneg : 0 <= g.

  Definition covered (h : list C) (z : Row) : bool := existsb (fun c => covers c z) h.

  (** What one row adds to the score of a candidate; it may depend on the row, as where the rows of a class weigh less. *)
  Definition gain h c z : R :=
    if covered h z then 0 else if covers c z then (if errs c z then - error h c z else coverage h c z) else 0.

  Definition score h c (rows : list Row) : R := Sum rows (gain h c).
  Definition weight (rows : list Row) h c : R := mass h c * exp (t * score h c rows).
  Definition cover_law (rows : list Row) : list C -> R := list_law cand (weight rows) [].

  (** Rows X of the first table stand against rows Y of the second. *)
  Variables X Y : list Row.
  Definition left_over h z (size : R) : R := if covered h z then 0 else size.
  Definition raises h : R := Sum X (fun z => left_over h z (g * t)) + Sum Y (fun z => left_over h z t).
  Definition lowers h : R := Sum X (fun z => left_over h z t) + Sum Y (fun z => left_over h z (g * t)).
  Definition apart h c : R := t * (Sum X (gain h c) - Sum Y (gain h c)).

  Lemma step_of_rows (Z : list Row) h c :
    Rmax 0 (t * Sum Z (gain h c)) + Sum Z (fun z => left_over (c :: h) z (g * t)) <= Sum Z (fun z => left_over h z (g * t)) /\
    Rmax 0 (- (t * Sum Z (gain h c))) + Sum Z (fun z => left_over (c :: h) z t) <= Sum Z (fun z => left_over h z t).
  Proof.
    assert (gt0 : 0 <= g * t) by (apply Rmult_le_pos; auto).
    assert (One : forall z,
      Rmax 0 (t * gain h c z) + left_over (c :: h) z (g * t) <= left_over h z (g * t) /\
      Rmax 0 (- (t * gain h c z)) + left_over (c :: h) z t <= left_over h z t).
    { intros z. unfold gain, left_over, covered. simpl. fold (covered h z).
      destruct (covered h z).
      - rewrite Bool.orb_true_r, Rmult_0_r, Ropp_0, Rmax_left; lra.
      - destruct (covers c z); simpl.
        + destruct (coverage_bounds h c z), (error_bounds h c z).
          destruct (errs c z); split; rewrite Rplus_0_r; apply pos_le; nra.
        + rewrite Rmult_0_r, Ropp_0, Rmax_left; lra. }
    induction Z as [|z Z [IH1 IH2]]; simpl.
    - rewrite Rmult_0_r, Ropp_0, Rmax_left; lra.
    - destruct (One z) as [O1 O2]. rewrite Rmult_plus_distr_l. split.
      + pose proof (pos_plus (t * gain h c z) (t * Sum Z (gain h c))). lra.
      + pose proof (pos_plus (- (t * gain h c z)) (- (t * Sum Z (gain h c)))).
        rewrite Ropp_plus_distr. lra.
  Qed.

  Lemma left_over_nonneg Z h size : 0 <= size -> 0 <= Sum Z (fun z => left_over h z size).
  Proof. intros. apply Sum_nonneg. intros z _. unfold left_over. destruct (covered h z); lra. Qed.

  Lemma rows_bounded T : forall h u s, raises h <= u -> lowers h <= s -> bounded cand apart T u s h.
  Proof.
    assert (gt0 : 0 <= g * t) by (apply Rmult_le_pos; auto).
    induction T as [|T IH]; intros h u s Hu Hs; simpl; auto.
    intros c _. destruct (step_of_rows X h c) as [X1 X2]. destruct (step_of_rows Y h c) as [Y1 Y2].
    pose proof (left_over_nonneg X (c :: h) (g * t) gt0). pose proof (left_over_nonneg X (c :: h) t t_nonneg).
    pose proof (left_over_nonneg Y (c :: h) (g * t) gt0). pose proof (left_over_nonneg Y (c :: h) t t_nonneg).
    unfold raises, lowers in *.
    set (a := t * Sum X (gain h c)) in *. set (b := t * Sum Y (gain h c)) in *.
    assert (D : apart h c = a - b) by (unfold apart, a, b; ring). rewrite D.
    pose proof (pos_ge a). pose proof (pos_ge (- a)). pose proof (pos_ge b). pose proof (pos_ge (- b)).
    pose proof (pos_nonneg a). pose proof (pos_nonneg (- a)). pose proof (pos_nonneg b). pose proof (pos_nonneg (- b)).
    assert (Rmax 0 (a - b) <= Rmax 0 a + Rmax 0 (- b)) by apply pos_plus.
    assert (- (Rmax 0 (- a) + Rmax 0 b) <= Rmin 0 (a - b)) by (apply Rmin_glb; lra).
    split; [lra|]. apply IH; unfold raises, lowers; lra.
  Qed.

  Variables rowsP rowsQ : list Row.
  Hypothesis rows_apart : forall k : Row -> R, Sum rowsP k - Sum rowsQ k = Sum X k - Sum Y k.

  Theorem cover_curve T E :
    let u := INR (length X) * (g * t) + INR (length Y) * t in
    let s := INR (length X) * t + INR (length Y) * (g * t) in
    private (lists cand T []) E (f s T (E - u)) (cover_law rowsP) (cover_law rowsQ).
  Proof.
    intros u s. assert (gt0 : 0 <= g * t) by (apply Rmult_le_pos; auto).
    assert (L : forall (Z : list Row) size, Sum Z (fun z => left_over [] z size) = INR (length Z) * size).
    { clear. intros Z size. induction Z as [|z Z IH]; [simpl; ring|].
      change (length (z :: Z)) with (S (length Z)). rewrite S_INR. simpl. rewrite IH. unfold left_over. simpl. ring. }
    pose proof (pos_INR (length X)). pose proof (pos_INR (length Y)).
    apply run_curve with (d := apart); auto.
    - intros h c. apply Rmult_lt_0_compat; [auto|apply exp_pos].
    - intros h c. unfold weight, apart, score. rewrite Rmult_assoc, <- exp_plus. do 2 f_equal.
      rewrite <- rows_apart. ring.
    - unfold u. nra.
    - unfold s. nra.
    - apply rows_bounded; unfold raises, lowers; rewrite !L; unfold u, s; lra.
  Qed.
End Lists.

(** The theorem, by relations.  [cover t g rows] is the law of the list on a table. *)
Section Claims.
  Context {Row C : Type}.
  Variable covers errs : C -> Row -> bool.
  Variable cand : list C -> list C.
  Variable mass : list C -> C -> R.
  Variable coverage error : list C -> C -> Row -> R.
  Variable t g : R.
  Hypothesis cand_some : forall h, cand h <> [].
  Hypothesis mass_pos : forall h c, 0 < mass h c.
  Hypothesis coverage_bounds : forall h c z, 0 <= coverage h c z <= g.
  Hypothesis error_bounds : forall h c z, 0 <= error h c z <= 1.
  Hypothesis t_nonneg : 0 <= t.
  Hypothesis g_nonneg : 0 <= g.

  Let cover := cover_law covers errs cand mass coverage error t.

  Theorem cover_replace T E :
    let s := (1 + g) * t in dp replace (lists cand T []) E (f s T (E - s)) cover.
  Proof.
    intros s a b [l x y r].
    pose proof (cover_curve covers errs cand mass coverage error t g cand_some mass_pos coverage_bounds error_bounds
      t_nonneg g_nonneg [x] [y] (l ++ x :: r) (l ++ y :: r)) as H.
    simpl in H. unfold s.
    replace ((1 + g) * t) with (1 * (g * t) + 1 * t) by ring.
    replace (f (1 * (g * t) + 1 * t)) with (f (1 * t + 1 * (g * t))) by (f_equal; ring).
    apply H. intros k. rewrite !Sum_app. simpl. ring.
  Qed.

  Theorem cover_add_remove T E :
    dp add_remove (lists cand T []) E (Rmax (f t T (E - g * t)) (f (g * t) T (E - t))) cover.
  Proof.
    assert (P := cover_curve covers errs cand mass coverage error t g cand_some mass_pos coverage_bounds error_bounds
      t_nonneg g_nonneg).
    intros a b [l x r|l x r]; unfold private.
    - eapply Rle_trans; [|apply Rmax_r]. specialize (P [] [x] (l ++ r) (l ++ x :: r)). simpl in P.
      replace (g * t) with (0 * t + 1 * (g * t)) at 1 by ring.
      replace (E - t) with (E - (0 * (g * t) + 1 * t)) by ring.
      apply P. intros k. rewrite !Sum_app. simpl. ring.
    - eapply Rle_trans; [|apply Rmax_l]. specialize (P [x] [] (l ++ x :: r) (l ++ r)). simpl in P.
      replace t with (1 * t + 0 * (g * t)) at 1 by ring.
      replace (E - g * t) with (E - (1 * (g * t) + 0 * t)) by ring.
      apply P. intros k. rewrite !Sum_app. simpl. ring.
  Qed.

  (** Without a limit on T. *)
  Theorem cover_replace_any T E :
    let s := (1 + g) * t in dp replace (lists cand T []) E (f_any s (E - s)) cover.
  Proof.
    intros s a b N. eapply Rle_trans; [apply cover_replace; exact N|]. apply f_below_f_any. unfold s. nra.
  Qed.

  Theorem cover_add_remove_any T E :
    dp add_remove (lists cand T []) E (Rmax (f_any t (E - g * t)) (f_any (g * t) (E - t))) cover.
  Proof.
    intros a b N. eapply Rle_trans; [apply cover_add_remove; exact N|].
    apply Rmax_lub;
      [eapply Rle_trans; [|apply Rmax_l]|eapply Rle_trans; [|apply Rmax_r]]; apply f_below_f_any; nra.
  Qed.

  (** Pure, delta = 0. *)
  Theorem cover_replace_pure T : dp replace (lists cand T []) ((INR T + 1) * ((1 + g) * t)) 0 cover.
  Proof.
    intros a b N. eapply Rle_trans; [apply cover_replace; exact N|]. pose proof (pos_INR T).
    assert (0 <= g * t) by nra. apply f_zero; nra.
  Qed.

  Theorem cover_add_remove_pure T : (1 <= T)%nat -> g <= 1 -> dp add_remove (lists cand T []) ((INR T + g) * t) 0 cover.
  Proof.
    intros HT Hg a b N. eapply Rle_trans; [apply cover_add_remove; exact N|]. apply le_INR in HT. simpl in HT.
    assert (0 <= g * t) by nra. assert (0 <= (INR T - 1) * (t * (1 - g))) by (apply Rmult_le_pos; nra).
    apply Rmax_lub; apply f_zero; nra.
  Qed.

  (** A unit of k rows, all of them replaced: the same curve at k times the exponent. *)
  Theorem cover_units T E (l r X Y : list Row) k :
    length X = k -> length Y = k ->
    let s := INR k * ((1 + g) * t) in
    private (lists cand T []) E (f s T (E - s)) (cover (l ++ X ++ r)) (cover (l ++ Y ++ r)).
  Proof.
    intros HX HY s.
    pose proof (cover_curve covers errs cand mass coverage error t g cand_some mass_pos coverage_bounds error_bounds
      t_nonneg g_nonneg X Y (l ++ X ++ r) (l ++ Y ++ r)) as H.
    cbv zeta in H. rewrite HX, HY in H. unfold s.
    replace (INR k * ((1 + g) * t)) with (INR k * (g * t) + INR k * t) by ring.
    replace (f (INR k * (g * t) + INR k * t)) with (f (INR k * t + INR k * (g * t))) by (f_equal; ring).
    apply H. intros q. rewrite !Sum_app. ring.
  Qed.
End Claims.

(** Rows that count by a weight between 0 and 1, which follows from the row and from what was released: the range, and so the
    curve, is that of rows that count whole. *)
Theorem cover_of_weighted_rows {Row C} (covers errs : C -> Row -> bool) (cand : list C -> list C) (mass : list C -> C -> R)
    (worth : Row -> R) t g T E :
  (forall h, cand h <> []) -> (forall h c, 0 < mass h c) -> (forall z, 0 <= worth z <= 1) -> 0 <= t -> 0 <= g ->
  let law := cover_law covers errs cand mass (fun _ _ z => worth z * g) (fun _ _ z => worth z) t in
  let s := (1 + g) * t in
  dp replace (lists cand T []) E (f s T (E - s)) law /\
  dp add_remove (lists cand T []) E (Rmax (f t T (E - g * t)) (f (g * t) T (E - t))) law.
Proof.
  intros C0 M W T0 G law s. assert (B : forall (h : list C) (c : C) z, 0 <= worth z * g <= g).
  { intros _ _ z. specialize (W z). nra. }
  split; [apply cover_replace|apply cover_add_remove]; auto.
Qed.
