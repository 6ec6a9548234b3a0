(** Steps that see one row each, drawn at random (dpfast.accounting.curves.single_sample).

    Sampling takes a curve of two rows to a curve of two tables; a moment of integer order is at most a sum over finitely
    many points of a curve; moments of steps multiply, also where the past chooses what comes next.  Laws are on finitely
    many outcomes, whose ratios reach no farther than the last point: the code leaves out what lies beyond 30 standard
    deviations. *)
From Coq Require Import Reals Lra List Psatz Lia.
From Dpfast Require Import Sums Privacy Concentrated Dominating Convex.
Import ListNotations.
Open Scope R_scope.

(** * One row of n, drawn uniformly and in secret *)
Section Sampled.
  Context {Row X : Type} (dom : list X) (law_of_row : Row -> X -> R) (D : R -> R).
  Hypothesis rows_apart : forall x z a, 1 <= a -> profile dom (law_of_row x) (law_of_row z) a <= D a.

  Definition step (table : list Row) (o : X) : R := Sum table (fun z => law_of_row z o) / INR (length table).

  (** At 1 + (a - 1) / n no more than D(a) / n. *)
  Theorem sampling_amplifies l x y r a : 1 <= a ->
    let n := INR (length (l ++ x :: r)) in
    profile dom (step (l ++ x :: r)) (step (l ++ y :: r)) (1 + / n * (a - 1)) <= / n * D a.
  Proof.
    intros A n. assert (Hn : n = INR (length l) + INR (length r) + 1).
    { unfold n. rewrite app_length. simpl length. rewrite plus_INR, S_INR. ring. }
    assert (Ln : INR (length (l ++ y :: r)) = n).
    { rewrite Hn, app_length. simpl length. rewrite plus_INR, S_INR. ring. }
    pose proof (pos_INR (length l)). pose proof (pos_INR (length r)). assert (N : 1 <= n) by lra.
    assert (I : 0 < / n) by (apply Rinv_0_lt_compat; lra).
    set (g := 1 + / n * (a - 1)). set (others := l ++ r).
    assert (G : 0 <= g - 1) by (unfold g; assert (0 <= / n * (a - 1)) by (apply Rmult_le_pos; lra); lra).
    assert (Len : INR (length others) = n - 1) by (unfold others; rewrite app_length, plus_INR, Hn; ring).
    apply Rle_trans with (Sum dom (fun o => / n * / a *
      (Sum others (fun z => (g - 1) * Rmax 0 (law_of_row x o - a * law_of_row z o)) +
       g * Rmax 0 (law_of_row x o - a * law_of_row y o)))).
    - unfold profile. apply Sum_le. intros o _. unfold step. fold n. rewrite Ln.
      set (p := fun z => law_of_row z o). rewrite !Sum_app. simpl.
      assert (E : (Sum l p + (p x + Sum r p)) / n - g * ((Sum l p + (p y + Sum r p)) / n)
        = / n * / a * (Sum others (fun z => (g - 1) * (p x - a * p z)) + g * (p x - a * p y))).
      { assert (S : Sum others (fun z => (g - 1) * (p x - a * p z))
            = (g - 1) * ((n - 1) * p x - a * (Sum l p + Sum r p))).
        { rewrite Sum_scal, Sum_minus, Sum_scal. unfold others at 2. rewrite Sum_app. f_equal. f_equal.
          rewrite <- Len. clear. induction others as [|z w IH]; [simpl; ring|].
          change (length (z :: w)) with (S (length w)). rewrite S_INR. simpl. rewrite IH. ring. }
        rewrite S. unfold g. field. lra. }
      fold (p x) (p y). rewrite E. apply pos_le.
      + apply Rmult_le_pos; [apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]|]. apply Rplus_le_le_0_compat.
        * apply Sum_nonneg. intros z _. apply Rmult_le_pos; [lra|apply pos_nonneg].
        * apply Rmult_le_pos; [lra|apply pos_nonneg].
      + apply Rmult_le_compat_l; [apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]|].
        apply Rplus_le_compat; [|apply Rmult_le_compat_l; [lra|apply pos_ge]].
        apply Sum_le. intros z _. apply Rmult_le_compat_l; [lra|apply pos_ge].
    - rewrite Sum_scal, Sum_plus, Sum_swap, Sum_scal.
      rewrite (Sum_ext others _ (fun z => (g - 1) * profile dom (law_of_row x) (law_of_row z) a))
        by (intros; rewrite Sum_scal; reflexivity).
      rewrite Rmult_assoc. apply Rmult_le_compat_l; [lra|].
      apply Rmult_le_reg_l with a; [lra|]. rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l by lra.
      apply Rle_trans with (Sum others (fun _ => (g - 1) * D a) + g * D a).
      + apply Rplus_le_compat; [apply Sum_le; intros z _; apply Rmult_le_compat_l; [lra|auto]|].
        apply Rmult_le_compat_l; [lra|apply rows_apart; auto].
      + assert (C : Sum others (fun _ => (g - 1) * D a) = (n - 1) * ((g - 1) * D a)).
        { rewrite <- Len. clear. induction others as [|z o IH]; [simpl; ring|].
          change (length (z :: o)) with (S (length o)). rewrite S_INR. simpl. rewrite IH. ring. }
        rewrite C. apply Req_le. unfold g. field. lra.
  Qed.
End Sampled.

(** * A convex function from its slopes at finitely many points *)

(** The sum over cells from a on: each has the rise of the slope within it, and the distance from its start. *)
Fixpoint cells (rise : R -> R -> R) (at_start : R -> R) (a : R) (l : list R) : R :=
  match l with [] => 0 | b :: l => rise a b * at_start a + cells rise at_start b l end.

Fixpoint ascending (a : R) (l : list R) : Prop := match l with [] => True | b :: l => a <= b /\ ascending b l end.

Fixpoint farthest (a : R) (l : list R) : R := match l with [] => a | b :: l => farthest b l end.

Lemma cells_below (f slope : R -> R) (rise : R -> R -> R) :
  (forall x y, 1 <= y <= x -> f x + slope x * (y - x) <= f y) -> (forall x y, 1 <= x <= y -> slope x <= slope y) ->
  (forall x y, 1 <= x <= y -> slope y - slope x <= rise x y) ->
  forall l a x, 1 <= a -> ascending a l -> a <= x <= farthest a l ->
  f x <= f a + slope a * (x - a) + cells rise (fun g => Rmax 0 (x - g)) a l.
Proof.
  intros C S W. induction l as [|b l IH]; simpl; intros a x A L X.
  - assert (x = a) by lra. subst x. lra.
  - destruct L as [L L']. pose proof (W a b (conj A L)) as Wa. pose proof (S a b (conj A L)) as Sa.
    rewrite (Rmax_right 0 (x - a)) by lra. destruct (Rle_dec x b) as [B|B].
    + assert (P : forall l c, 1 <= c -> ascending c l -> 0 <= cells rise (fun g => Rmax 0 (x - g)) c l).
      { clear - S W. induction l as [|d l IH]; simpl; intros c Hc A; [lra|]. destruct A as [A A'].
        specialize (IH d ltac:(lra) A'). pose proof (W c d (conj Hc A)). pose proof (S c d (conj Hc A)).
        pose proof (pos_nonneg (x - c)). nra. }
      specialize (P l b ltac:(lra) L'). pose proof (C x a ltac:(lra)) as T. pose proof (S x b ltac:(lra)) as Sx. nra.
    + specialize (IH b x ltac:(lra) L' ltac:(lra)). pose proof (C b a ltac:(lra)) as T. nra.
Qed.

Lemma cells_sum {X} (dom : list X) rise (at_start : X -> R -> R) l : forall a,
  Sum dom (fun x => cells rise (at_start x) a l) = cells rise (fun g => Sum dom (fun x => at_start x g)) a l.
Proof.
  induction l as [|b l IH]; simpl; intros a; [apply Sum_zero; auto|]. rewrite Sum_plus, Sum_scal, IH. reflexivity.
Qed.

Lemma cells_scal rise s c l : forall a, c * cells rise s a l = cells rise (fun g => c * s g) a l.
Proof. induction l as [|b l IH]; simpl; intros a; [ring|]. rewrite <- IH. ring. Qed.

Lemma cells_le rise s s' l : forall a, 1 <= a -> ascending a l -> (forall x y, 1 <= x <= y -> 0 <= rise x y) ->
  (forall g, In g (a :: l) -> s g <= s' g) -> cells rise s a l <= cells rise s' a l.
Proof.
  induction l as [|b l IH]; intros a A L W H; simpl; [lra|]. destruct L as [L L'].
  apply Rplus_le_compat; [apply Rmult_le_compat_l; [apply W; lra|apply H; left; auto]|].
  apply IH; auto; [lra|]. intros g G. apply H. right; auto.
Qed.

(** * A moment of the order n + 2 by two curves *)

(** a (a - 1) g^(a - 2) at the end of a cell, and a (a - 1) g^(-a - 1) at its start. *)
Definition rise_up (n : nat) (a b : R) : R := INR (S (S n)) * INR (S n) * b ^ n * (b - a).
Definition rise_down (n : nat) (a b : R) : R := INR (S (S n)) * INR (S n) * / a ^ (n + 3) * (b - a).

Lemma power_up n x y : 0 <= x -> 0 <= y -> y ^ S (S n) + INR (S (S n)) * y ^ S n * (x - y) <= x ^ S (S n).
Proof. intros. apply power_above_tangent; auto. Qed.

Lemma inverse_above_tangent k x y : 0 < y -> y <= x ->
  / x ^ k - INR k * / x ^ S k * (y - x) <= / y ^ k.
Proof.
  intros Y L. destruct k as [|k]; [simpl; lra|].
  assert (X : 0 < x) by lra. assert (Py : 0 < y ^ S k) by (apply pow_lt; auto). assert (Px : 0 < x ^ S k) by (apply pow_lt; auto).
  assert (R1 : 1 <= x / y) by (apply Rmult_le_reg_r with y; [auto|]; unfold Rdiv; rewrite Rmult_assoc, Rinv_l; lra).
  pose proof (power_above_tangent k (x / y) 1 ltac:(lra) ltac:(lra)) as B. rewrite !pow1 in B.
  unfold Rdiv in B at 2. rewrite Rpow_mult_distr, pow_inv in B.
  assert (D : (x - y) / x <= x / y - 1).
  { apply Rmult_le_reg_r with (x * y); [nra|]. replace ((x - y) / x * (x * y)) with ((x - y) * y) by (field; lra).
    replace ((x / y - 1) * (x * y)) with ((x - y) * x) by (field; lra). nra. }
  pose proof (pos_INR (S k)) as K. apply Rmult_le_reg_l with (x ^ S k); [auto|].
  replace (x ^ S k * (/ x ^ S k - INR (S k) * / x ^ S (S k) * (y - x))) with (1 + INR (S k) * ((x - y) / x)).
  2:{ change (x ^ S (S k)) with (x * x ^ S k). field. split; lra. }
  nra.
Qed.

Lemma inverse_rises k x y : 0 < x -> x <= y -> / x ^ k - / y ^ k <= INR k * / x ^ S k * (y - x).
Proof.
  intros X L. destruct k as [|k]; [simpl; lra|].
  assert (Y : 0 < y) by lra. assert (Px : 0 < x ^ S k) by (apply pow_lt; auto). assert (Py : 0 < y ^ S k) by (apply pow_lt; auto).
  assert (Q : 0 <= x / y) by (apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; auto]).
  pose proof (power_above_tangent k (x / y) 1 Q ltac:(lra)) as B. rewrite !pow1 in B.
  unfold Rdiv in B at 2. rewrite Rpow_mult_distr, pow_inv in B.
  assert (D : 1 - x / y <= (y - x) / x).
  { apply Rmult_le_reg_r with (x * y); [nra|]. replace ((1 - x / y) * (x * y)) with ((y - x) * x) by (field; lra).
    replace ((y - x) / x * (x * y)) with ((y - x) * y) by (field; lra). nra. }
  pose proof (pos_INR (S k)) as K. apply Rmult_le_reg_l with (x ^ S k); [auto|].
  replace (x ^ S k * (INR (S k) * / x ^ S (S k) * (y - x))) with (INR (S k) * ((y - x) / x)).
  2:{ change (x ^ S (S k)) with (x * x ^ S k). field. split; lra. }
  rewrite Rmult_minus_distr_l, Rinv_r by lra. nra.
Qed.

Lemma rise_up_nonneg n x y : 1 <= x <= y -> 0 <= rise_up n x y.
Proof.
  intros [A B]. unfold rise_up. apply Rmult_le_pos; [|lra]. apply Rmult_le_pos; [apply Rmult_le_pos; apply pos_INR|].
  apply pow_le. lra.
Qed.

Lemma rise_down_nonneg n x y : 1 <= x <= y -> 0 <= rise_down n x y.
Proof.
  intros [A B]. unfold rise_down. apply Rmult_le_pos; [|lra]. apply Rmult_le_pos; [apply Rmult_le_pos; apply pos_INR|].
  left. apply Rinv_0_lt_compat, pow_lt. lra.
Qed.

Lemma ratio_up n l x : ascending 1 l -> 1 <= x <= farthest 1 l ->
  x ^ S (S n) <= 1 + INR (S (S n)) * (x - 1) + cells (rise_up n) (fun g => Rmax 0 (x - g)) 1 l.
Proof.
  intros A X.
  pose proof (cells_below (fun x => x ^ S (S n)) (fun x => INR (S (S n)) * x ^ S n) (rise_up n)) as H.
  specialize (H ltac:(intros u v U; apply power_above_tangent; lra)).
  specialize (H ltac:(intros u v U; apply Rmult_le_compat_l; [apply pos_INR|apply pow_incr; lra])).
  assert (W : forall u v, 1 <= u <= v -> INR (S (S n)) * v ^ S n - INR (S (S n)) * u ^ S n <= rise_up n u v).
  { intros u v U. pose proof (power_above_tangent n u v ltac:(lra) ltac:(lra)) as T. pose proof (pos_INR (S (S n))).
    unfold rise_up. apply Rmult_le_compat_l with (r := INR (S (S n))) in T; [|auto]. nra. }
  specialize (H W l 1 x (Rle_refl 1) A X). cbv beta in H. rewrite !pow1, Rmult_1_r in H. exact H.
Qed.

Lemma ratio_down n l x : ascending 1 l -> 1 <= x <= farthest 1 l ->
  / x ^ S n <= 1 - INR (S n) * (x - 1) + cells (rise_down n) (fun g => Rmax 0 (x - g)) 1 l.
Proof.
  intros A X.
  pose proof (cells_below (fun x => / x ^ S n) (fun x => - (INR (S n) * / x ^ S (S n))) (rise_down n)) as H.
  assert (C : forall u v, 1 <= v <= u -> / u ^ S n + - (INR (S n) * / u ^ S (S n)) * (v - u) <= / v ^ S n).
  { intros u v U. pose proof (inverse_above_tangent (S n) u v ltac:(lra) ltac:(lra)). lra. }
  assert (Sl : forall u v, 1 <= u <= v -> - (INR (S n) * / u ^ S (S n)) <= - (INR (S n) * / v ^ S (S n))).
  { intros u v U. apply Ropp_le_contravar, Rmult_le_compat_l; [apply pos_INR|].
    apply Rinv_le_contravar; [apply pow_lt; lra|apply pow_incr; lra]. }
  assert (W : forall u v, 1 <= u <= v ->
    - (INR (S n) * / v ^ S (S n)) - - (INR (S n) * / u ^ S (S n)) <= rise_down n u v).
  { intros u v U. pose proof (inverse_rises (S (S n)) u v ltac:(lra) ltac:(lra)) as T. pose proof (pos_INR (S n)).
    unfold rise_down. replace (n + 3)%nat with (S (S (S n))) by lia.
    apply Rmult_le_compat_l with (r := INR (S n)) in T; [|auto]. nra. }
  specialize (H C Sl W l 1 x (Rle_refl 1) A X). cbv beta in H. rewrite !pow1, Rinv_1, Rmult_1_r in H. lra.
Qed.

Lemma order_is_power k r : 0 < r -> exp (INR k * ln r) = r ^ k.
Proof. intros P. rewrite <- exp_pow, exp_ln; auto. Qed.

Theorem moment_by_curves {X} (dom : list X) (P Q : X -> R) n l :
  law dom P -> law dom Q -> (forall x, 0 < P x) -> (forall x, 0 < Q x) -> ascending 1 l ->
  (forall x, In x dom -> P x <= farthest 1 l * Q x /\ Q x <= farthest 1 l * P x) ->
  moment dom (INR (S (S n))) P Q
  <= 1 + cells (rise_up n) (profile dom P Q) 1 l + cells (rise_down n) (profile dom Q P) 1 l.
Proof.
  intros [_ P1] [_ Q1] P0 Q0 A Far. unfold moment.
  apply Rle_trans with (Sum dom (fun x => Q x + INR (S (S n)) * (P x - Q x)
    + cells (rise_up n) (fun g => Rmax 0 (P x - g * Q x)) 1 l + cells (rise_down n) (fun g => Rmax 0 (Q x - g * P x)) 1 l)).
  - apply Sum_le. intros x I. specialize (P0 x). specialize (Q0 x). destruct (Far x I) as [B B'].
    assert (R0 : 0 < P x / Q x) by (apply Rdiv_lt_0_compat; auto). rewrite order_is_power by auto.
    assert (Zero : forall (s : R -> R) rise, (forall u v, 1 <= u <= v -> 0 <= rise u v) -> (forall g, 0 <= s g) -> 0 <= cells rise s 1 l).
    { intros s rise W S. apply Rle_trans with (cells rise (fun _ => 0) 1 l); [|apply cells_le; auto; lra].
      clear. generalize 1. induction l as [|b l IH]; simpl; intros a; [lra|]. rewrite Rmult_0_r. specialize (IH b). lra. }
    destruct (Rle_dec (Q x) (P x)) as [L|L].
    + assert (Hr : 1 <= P x / Q x <= farthest 1 l).
      { split; apply Rmult_le_reg_r with (Q x); auto; unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra; lra. }
      pose proof (ratio_up n l _ A Hr) as H. apply Rmult_le_compat_l with (r := Q x) in H; [|lra].
      rewrite Rmult_plus_distr_l, cells_scal in H.
      pose proof (Zero (fun g => Rmax 0 (Q x - g * P x)) (rise_down n) (rise_down_nonneg n) (fun g => pos_nonneg _)) as Z.
      assert (E : cells (rise_up n) (fun g => Q x * Rmax 0 (P x / Q x - g)) 1 l <= cells (rise_up n) (fun g => Rmax 0 (P x - g * Q x)) 1 l).
      { apply cells_le; auto; [lra|apply rise_up_nonneg|]. intros g _. rewrite <- pos_scal by lra. apply Req_le. f_equal. field. lra. }
      replace (Q x * (1 + INR (S (S n)) * (P x / Q x - 1))) with (Q x + INR (S (S n)) * (P x - Q x)) in H by (field; lra). lra.
    + assert (Hr : 1 <= Q x / P x <= farthest 1 l).
      { split; apply Rmult_le_reg_r with (P x); auto; unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra; lra. }
      pose proof (ratio_down n l _ A Hr) as H. apply Rmult_le_compat_l with (r := P x) in H; [|lra].
      rewrite Rmult_plus_distr_l, cells_scal in H.
      pose proof (Zero (fun g => Rmax 0 (P x - g * Q x)) (rise_up n) (rise_up_nonneg n) (fun g => pos_nonneg _)) as Z.
      assert (E : cells (rise_down n) (fun g => P x * Rmax 0 (Q x / P x - g)) 1 l <= cells (rise_down n) (fun g => Rmax 0 (Q x - g * P x)) 1 l).
      { apply cells_le; auto; [lra|apply rise_down_nonneg|]. intros g _. rewrite <- pos_scal by lra. apply Req_le. f_equal. field. lra. }
      replace (P x * (1 - INR (S n) * (Q x / P x - 1))) with (Q x + INR (S (S n)) * (P x - Q x)) in H
        by (rewrite (S_INR (S n)); field; lra).
      replace (P x * / (Q x / P x) ^ S n) with (Q x * (P x / Q x) ^ S (S n)) in H.
      2:{ unfold Rdiv. rewrite !Rpow_mult_distr, !pow_inv. simpl. field.
          assert (P x ^ n <> 0) by (apply pow_nonzero; lra). assert (Q x ^ n <> 0) by (apply pow_nonzero; lra).
          repeat split; auto; lra. }
      lra.
  - rewrite !Sum_plus, Sum_scal, Sum_minus, P1, Q1, !cells_sum. unfold profile. lra.
Qed.

(** * Steps *)

Lemma moment_of_steps {X} (dom : list X) (M N : list X -> X -> R) a m :
  (forall h x, 0 < M h x) -> (forall h x, 0 < N h x) -> 0 <= m -> (forall h, moment dom a (M h) (N h) <= m) ->
  forall T h, moment (runs dom T h) a (run_law M h) (run_law N h) <= m ^ T.
Proof.
  intros HM HN Hm H T. assert (Pos : forall K : list X -> X -> R, (forall h x, 0 < K h x) -> forall w h, 0 < run_law K h w).
  { intros K HK w. induction w as [|x w IHw]; simpl; intros g; [lra|]. apply Rmult_lt_0_compat; auto. }
  induction T as [|T IH]; intros h; unfold moment.
  - simpl. replace (1 / 1) with 1 by field. rewrite ln_1, Rmult_0_r, exp_0. lra.
  - simpl runs. rewrite Sum_flat_map.
    apply Rle_trans with (Sum dom (fun x => N h x * exp (a * ln (M h x / N h x)) * m ^ T)).
    + apply Sum_le. intros x _. rewrite Sum_map.
      rewrite (Sum_ext _ _ (fun w => N h x * exp (a * ln (M h x / N h x)) *
        (run_law N (x :: h) w * exp (a * ln (run_law M (x :: h) w / run_law N (x :: h) w))))).
      * rewrite Sum_scal. apply Rmult_le_compat_l; [|apply IH].
        apply Rmult_le_pos; [left; auto|left; apply exp_pos].
      * intros w _. simpl. pose proof (Pos M HM w (x :: h)). pose proof (Pos N HN w (x :: h)).
        specialize (HM h x). specialize (HN h x).
        replace (M h x * run_law M (x :: h) w / (N h x * run_law N (x :: h) w)) with
          ((M h x / N h x) * (run_law M (x :: h) w / run_law N (x :: h) w)) by (field; lra).
        rewrite ln_mult by (apply Rdiv_lt_0_compat; auto). rewrite Rmult_plus_distr_l, exp_plus. ring.
    + rewrite Sum_scal_r. specialize (H h). unfold moment in H. simpl. apply Rmult_le_compat_r; [apply pow_le; auto|auto].
Qed.

(** The conversion of one order 1 + b. *)
Theorem claim_of_a_moment {X} (dom : list X) E b m (P Q : X -> R) :
  (forall x, 0 < P x) -> (forall x, 0 < Q x) -> 0 < b -> 0 < m -> moment dom (1 + b) P Q <= m ->
  private dom E (exp (ln m - b * E - b * ln (1 + 1 / b) - ln (1 + b))) P Q.
Proof.
  intros HP HQ B M H. unfold private, hockey, moment in *. set (k := - b * E + b * ln b - (1 + b) * ln (1 + b)).
  apply Rle_trans with (Sum dom (fun x => exp k * (Q x * exp ((1 + b) * ln (P x / Q x))))).
  - apply Sum_le. intros x _. specialize (HP x). specialize (HQ x).
    assert (R0 : 0 < P x / Q x) by (apply Rdiv_lt_0_compat; auto). apply pos_le.
    + apply Rmult_le_pos; [left; apply exp_pos|]. apply Rmult_le_pos; [lra|left; apply exp_pos].
    + pose proof (power_above_line b (ln (P x / Q x)) E B) as L. rewrite exp_ln in L by auto.
      replace (P x - exp E * Q x) with (Q x * (P x / Q x - exp E)) by (field; lra).
      replace (exp k * (Q x * exp ((1 + b) * ln (P x / Q x)))) with (Q x * (exp k * exp ((1 + b) * ln (P x / Q x)))) by ring.
      apply Rmult_le_compat_l; [lra|]. rewrite <- exp_plus. eapply Rle_trans; [apply L|]. apply Req_le. f_equal. unfold k. ring.
  - rewrite Sum_scal. apply Rle_trans with (exp k * m); [apply Rmult_le_compat_l; [left; apply exp_pos|auto]|].
    rewrite <- (exp_ln m) at 1 by auto. rewrite <- exp_plus. apply Req_le. f_equal. unfold k.
    replace (1 + 1 / b) with ((1 + b) * / b) by (field; lra).
    rewrite ln_mult, ln_Rinv by (auto; try lra; apply Rinv_0_lt_compat; auto). ring.
Qed.

(** * All steps *)

Definition sampled (q a : R) : R := 1 + q * (a - 1).

(** What a step's moment of the order n + 2 is at most: rows that are drawn with chance q have divergences of at most D(a)
    at a, and l are points of a. *)
Definition sampled_moment (n : nat) (q : R) (D : R -> R) (l : list R) : R :=
  1 + cells (rise_up n) (fun g => q * D (1 + (g - 1) / q)) 1 (map (sampled q) l)
    + cells (rise_down n) (fun g => q * D (1 + (g - 1) / q)) 1 (map (sampled q) l).

Lemma sampled_points q l : 0 <= q -> forall a, ascending a l -> ascending (sampled q a) (map (sampled q) l).
Proof.
  intros Q. induction l as [|b l IH]; simpl; intros a A; [auto|]. destruct A as [A A']. split; [|auto].
  unfold sampled. assert (q * (a - 1) <= q * (b - 1)) by (apply Rmult_le_compat_l; lra). lra.
Qed.

Lemma farthest_sampled q l : forall a, farthest (sampled q a) (map (sampled q) l) = sampled q (farthest a l).
Proof. induction l as [|b l IH]; simpl; intros a; auto. Qed.

Lemma farthest_is_far l : forall a, ascending a l -> a <= farthest a l.
Proof. induction l as [|b l IH]; simpl; intros a A; [lra|]. destruct A as [A A']. specialize (IH b A'). lra. Qed.

Lemma points_beyond l : forall a, ascending a l -> forall b, In b l -> a <= b.
Proof.
  induction l as [|c l IH]; simpl; intros a A b I; [contradiction|]. destruct A as [A A'], I as [<-|I]; [auto|].
  specialize (IH c A' b I). lra.
Qed.

Section AllSteps.
  Context {Row X : Type} (dom : list X) (law_of_row : list X -> Row -> X -> R) (D : R -> R) (points : list R).
  Hypothesis rows_law : forall h z, law dom (law_of_row h z).
  Hypothesis rows_pos : forall h z o, 0 < law_of_row h z o.
  Hypothesis D_nonneg : forall a, 0 <= D a.
  Hypothesis rows_apart : forall h x z a, 1 <= a -> profile dom (law_of_row h x) (law_of_row h z) a <= D a.
  Hypothesis points_ascend : ascending 1 points.
  Hypothesis rows_within : forall h x z o, In o dom -> law_of_row h x o <= farthest 1 points * law_of_row h z o.

  Definition run_step (table : list Row) (h : list X) : X -> R := step (law_of_row h) table.

  Lemma table_some l (x : Row) r : 0 < INR (length (l ++ x :: r)).
  Proof. rewrite app_length. simpl length. rewrite plus_INR, S_INR. pose proof (pos_INR (length l)). pose proof (pos_INR (length r)). lra. Qed.

  Lemma step_pos l x r h o : 0 < run_step (l ++ x :: r) h o.
  Proof.
    unfold run_step, step. apply Rdiv_lt_0_compat; [|apply table_some]. apply Sum_pos; [|auto].
    destruct l; simpl; congruence.
  Qed.

  Lemma step_law l x r h : law dom (run_step (l ++ x :: r) h).
  Proof.
    split; [intros; left; apply step_pos|]. pose proof (table_some l x r) as N. unfold run_step, step, Rdiv.
    rewrite Sum_scal_r, Sum_swap, (Sum_ext _ _ (fun _ => 1)) by (intros z _; apply rows_law).
    assert (C : forall t : list Row, Sum t (fun _ => 1) = INR (length t)).
    { clear. induction t as [|z w IH]; [reflexivity|]. change (length (z :: w)) with (S (length w)). rewrite S_INR. simpl.
      rewrite IH. ring. }
    rewrite C. apply Rinv_r. lra.
  Qed.

  Lemma step_within l x y r h o : In o dom ->
    let q := / INR (length (l ++ x :: r)) in
    run_step (l ++ x :: r) h o <= sampled q (farthest 1 points) * run_step (l ++ y :: r) h o.
  Proof.
    intros I q. pose proof (farthest_is_far points 1 points_ascend) as F.
    set (D' := fun a => if Rle_dec (farthest 1 points) a then 0 else 1).
    assert (B : forall u z a, 1 <= a -> profile [o] (law_of_row h u) (law_of_row h z) a <= D' a).
    { intros u z a A. unfold profile, D'. simpl. rewrite Rplus_0_r. pose proof (rows_pos h z o) as Z.
      destruct (Rle_dec (farthest 1 points) a) as [C|C].
      - apply pos_le; [lra|]. pose proof (rows_within h u z o I). nra.
      - apply pos_le; [lra|]. destruct (rows_law h u) as [U0 U1].
        pose proof (Sum_term dom (law_of_row h u) o (fun v _ => U0 v) I). nra. }
    pose proof (sampling_amplifies [o] (law_of_row h) D' B l x y r (farthest 1 points) F) as H. cbv zeta in H.
    unfold D' in H. destruct (Rle_dec (farthest 1 points) (farthest 1 points)) as [_|C]; [|lra].
    rewrite Rmult_0_r in H. unfold profile in H. simpl in H. fold q in H. rewrite Rplus_0_r in H.
    pose proof (pos_ge (step (law_of_row h) (l ++ x :: r) o - (1 + q * (farthest 1 points - 1)) * step (law_of_row h) (l ++ y :: r) o)).
    unfold run_step, sampled. lra.
  Qed.

  Theorem single_sample_moment l x y r n h :
    moment dom (INR (S (S n))) (run_step (l ++ x :: r) h) (run_step (l ++ y :: r) h)
    <= sampled_moment n (/ INR (length (l ++ x :: r))) D points.
  Proof.
    pose proof (table_some l x r) as N. set (q := / INR (length (l ++ x :: r))).
    assert (Q : 0 < q) by (apply Rinv_0_lt_compat; auto).
    assert (Len : / INR (length (l ++ y :: r)) = q) by (unfold q; rewrite !app_length; reflexivity).
    assert (One : sampled q 1 = 1) by (unfold sampled; ring).
    pose proof (sampled_points q points (Rlt_le _ _ Q) 1 points_ascend) as A. rewrite One in A.
    assert (Far : farthest 1 (map (sampled q) points) = sampled q (farthest 1 points)).
    { rewrite <- One at 1. apply farthest_sampled. }
    eapply Rle_trans; [apply moment_by_curves with (l := map (sampled q) points); auto using step_law, step_pos|].
    - intros o I. rewrite Far. split; [apply step_within; auto|].
      pose proof (step_within l y x r h o I) as H. cbv zeta in H. rewrite Len in H. exact H.
    - assert (Each : forall g, In g (1 :: map (sampled q) points) -> exists a, 1 <= a /\ g = sampled q a).
      { intros g [<-|G]; [exists 1; split; [lra|auto]|]. apply in_map_iff in G. destruct G as [a [<- G]].
        exists a. split; [apply (points_beyond points 1); auto|auto]. }
      unfold sampled_moment. apply Rplus_le_compat; [apply Rplus_le_compat_l|]; apply cells_le; auto using rise_up_nonneg, rise_down_nonneg;
        try lra; intros g G; destruct (Each g G) as [a [A1 ->]];
        replace (1 + (sampled q a - 1) / q) with a by (unfold sampled; field; lra).
      + apply (sampling_amplifies dom (law_of_row h) D (rows_apart h) l x y r a A1).
      + pose proof (sampling_amplifies dom (law_of_row h) D (rows_apart h) l y x r a A1) as H. cbv zeta in H.
        rewrite Len in H. exact H.
  Qed.

  Lemma sampled_moment_pos n q : 0 < q -> 0 < sampled_moment n q D points.
  Proof.
    intros Q. assert (One : sampled q 1 = 1) by (unfold sampled; ring).
    pose proof (sampled_points q points (Rlt_le _ _ Q) 1 points_ascend) as A. rewrite One in A.
    assert (Zero : forall (rise : R -> R -> R), (forall u v, 1 <= u <= v -> 0 <= rise u v) ->
      0 <= cells rise (fun g => q * D (1 + (g - 1) / q)) 1 (map (sampled q) points)).
    { intros rise W. apply Rle_trans with (cells rise (fun _ => 0) 1 (map (sampled q) points)).
      - clear. generalize 1 (map (sampled q) points). intros a l. revert a. induction l as [|b l IH]; simpl; intros a; [lra|].
        rewrite Rmult_0_r. specialize (IH b). lra.
      - apply cells_le; auto; [lra|]. intros g _. apply Rmult_le_pos; [lra|auto]. }
    unfold sampled_moment. pose proof (Zero _ (rise_up_nonneg n)). pose proof (Zero _ (rise_down_nonneg n)). lra.
  Qed.

  (** T steps, each chosen with the outcomes so far in view: the claim of one order n + 2 = 1 + b. *)
  Theorem single_sample_private l x y r n T E :
    let m := sampled_moment n (/ INR (length (l ++ x :: r))) D points in
    let b := INR (S n) in
    private (runs dom T []) E (exp (INR T * ln m - b * E - b * ln (1 + 1 / b) - ln (1 + b)))
      (run_law (run_step (l ++ x :: r)) []) (run_law (run_step (l ++ y :: r)) []).
  Proof.
    intros m b. assert (M : 0 < m) by (apply sampled_moment_pos, Rinv_0_lt_compat, table_some).
    assert (B : 0 < b) by (unfold b; apply lt_0_INR; lia).
    assert (Pos : forall K : list X -> X -> R, (forall h o, 0 < K h o) -> forall w h, 0 < run_law K h w).
    { intros K HK w. induction w as [|o w IHw]; simpl; intros g; [lra|]. apply Rmult_lt_0_compat; auto. }
    replace (INR T * ln m) with (ln (m ^ T)) by (rewrite <- (exp_ln m M) at 1; rewrite exp_pow, ln_exp; reflexivity).
    apply claim_of_a_moment; auto; try (intros w; apply Pos; intros; apply step_pos); [apply pow_lt; auto|].
    replace (1 + b) with (INR (S (S n))) by (unfold b; rewrite (S_INR (S n)); ring).
    apply moment_of_steps; try (intros; apply step_pos); [lra|]. intros h. apply single_sample_moment.
  Qed.
End AllSteps.

(** The epsilon of T steps at delta, by the order n + 2. *)
Definition steps_epsilon (n : nat) (q : R) (D : R -> R) (l : list R) (T d : R) : R :=
  let b := INR (S n) in (T * ln (sampled_moment n q D l) - ln d - b * ln (1 + 1 / b) - ln (1 + b)) / b.

Corollary single_sample_claim {Row X} (dom : list X) (law_of_row : list X -> Row -> X -> R) (D : R -> R) (points : list R)
    (l r : list Row) (x y : Row) n T E d :
  (forall h z, law dom (law_of_row h z)) -> (forall h z o, 0 < law_of_row h z o) -> (forall a, 0 <= D a) ->
  (forall h x z a, 1 <= a -> profile dom (law_of_row h x) (law_of_row h z) a <= D a) -> ascending 1 points ->
  (forall h x z o, In o dom -> law_of_row h x o <= farthest 1 points * law_of_row h z o) -> 0 < d ->
  steps_epsilon n (/ INR (length (l ++ x :: r))) D points (INR T) d <= E ->
  private (runs dom T []) E d
    (run_law (run_step law_of_row (l ++ x :: r)) []) (run_law (run_step law_of_row (l ++ y :: r)) []).
Proof.
  intros L P D0 A As W D1 H. unfold private.
  pose proof (single_sample_private dom law_of_row D points L P D0 A As W l x y r n T E) as C. cbv zeta in C.
  eapply Rle_trans; [exact C|]. rewrite <- (exp_ln d D1). apply exp_le. unfold steps_epsilon in H. cbv zeta in H.
  assert (B : 0 < INR (S n)) by (apply lt_0_INR; lia).
  apply Rmult_le_compat_r with (r := INR (S n)) in H; [|lra].
  unfold Rdiv in H at 1. rewrite Rmult_assoc, Rinv_l, Rmult_1_r in H by lra. lra.
Qed.
