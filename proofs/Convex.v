(** The curve of greedy cover is convex in a = e^epsilon, and a cover is dominated by the pair of laws made from it.

    The curve is the largest of lines: one for each m in [0, 1 - e^-s], by Hoelder's inequality.  What bounds a mechanism
    at finitely many points, with slopes that rise from point to point, dominates it: the mechanism's own divergences are
    convex, so chords bound them. *)
From Coq Require Import Reals Lra List Psatz Lia.
From Dpfast Require Import Sums Privacy Cover Dominating.
Import ListNotations.
Open Scope R_scope.

(** * Powers are convex *)

Lemma power_above_tangent n x z : 0 <= x -> 0 <= z -> z ^ S n + INR (S n) * z ^ n * (x - z) <= x ^ S n.
Proof.
  intros X Z. induction n as [|n IH]; [simpl; lra|].
  rewrite S_INR. pose proof (pow_le z n Z) as P. pose proof (pos_INR n) as N.
  apply Rmult_le_compat_l with (r := x) in IH; [|auto]. change (x ^ S (S n)) with (x * x ^ S n).
  eapply Rle_trans; [|exact IH]. rewrite S_INR. simpl.
  assert (0 <= (INR n + 1) * (z ^ n * ((x - z) * (x - z)))).
  { apply Rmult_le_pos; [lra|]. apply Rmult_le_pos; [auto|]. apply (Rle_0_sqr (x - z)). }
  nra.
Qed.

Lemma power_convex n m x y : 0 <= m <= 1 -> 0 <= x -> 0 <= y ->
  (m * x + (1 - m) * y) ^ S n <= m * x ^ S n + (1 - m) * y ^ S n.
Proof.
  intros M X Y. set (z := m * x + (1 - m) * y). assert (Z : 0 <= z) by (unfold z; nra).
  pose proof (power_above_tangent n x z X Z) as A. pose proof (power_above_tangent n y z Y Z) as B.
  apply Rmult_le_compat_l with (r := m) in A; [|lra]. apply Rmult_le_compat_l with (r := 1 - m) in B; [|lra].
  replace (z ^ S n) with (m * (z ^ S n + INR (S n) * z ^ n * (x - z)) + (1 - m) * (z ^ S n + INR (S n) * z ^ n * (y - z))); [lra|].
  unfold z at 3 6. ring.
Qed.

(** * The curve as the largest of lines *)

(** With n = T + 1 and b^n = a e^s: the lines touch the curve at b = e^s (1 - m). *)
Definition line (s : R) (T : nat) (m a : R) : R :=
  (1 - exp (- s)) / (exp s - 1) ^ S T * (exp s ^ S T * m ^ T - (m / (1 - m)) ^ T * (a * exp s)).

Definition middle (s : R) (T : nat) (b : R) : R := (1 - exp (- s)) / (exp s - 1) ^ S T * (exp s - b) ^ S T.

Section Lines.
  Variables (s : R) (T : nat).
  Hypothesis s_pos : 0 < s.

  Lemma beyond_1 : 1 < exp s.
  Proof. rewrite <- exp_0. apply exp_increasing; auto. Qed.

  Lemma share_pos : 0 < (1 - exp (- s)) / (exp s - 1) ^ S T.
  Proof.
    pose proof beyond_1. apply Rmult_lt_0_compat.
    - assert (exp (- s) < exp 0) by (apply exp_increasing; lra). rewrite exp_0 in *. lra.
    - apply Rinv_0_lt_compat, pow_lt. lra.
  Qed.

  Lemma line_below_middle m b : 0 <= m < 1 -> 0 <= b <= exp s -> line s T m (b ^ S T * exp (- s)) <= middle s T b.
  Proof.
    intros M B. unfold line, middle. apply Rmult_le_compat_l; [left; apply share_pos|].
    rewrite Rmult_assoc, exp_neg, Rmult_1_r.
    destruct (Req_dec m 0) as [->|M0].
    { destruct T as [|n]; [simpl; lra|]. unfold Rdiv. rewrite Rmult_0_l, !pow_i by lia. rewrite Rmult_0_r, Rmult_0_l, Rminus_0_r.
      apply pow_le. lra. }
    assert (MP : 0 < m) by lra.
    pose proof (power_convex T m ((exp s - b) / m) (b / (1 - m)) ltac:(lra)
      ltac:(apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra])
      ltac:(apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra])) as H.
    replace (m * ((exp s - b) / m) + (1 - m) * (b / (1 - m))) with (exp s) in H by (field; lra).
    assert (P : 0 < m ^ T) by (apply pow_lt; auto).
    apply Rmult_le_compat_r with (r := m ^ T) in H; [|lra].
    unfold Rdiv in *. rewrite !Rpow_mult_distr in *. rewrite !pow_inv in *.
    replace ((m * ((exp s - b) ^ S T * / m ^ S T) + (1 - m) * (b ^ S T * / (1 - m) ^ S T)) * m ^ T)
      with ((exp s - b) ^ S T + m ^ T * / (1 - m) ^ T * b ^ S T) in H.
    2:{ simpl. field. repeat split; try (apply pow_nonzero); lra. }
    lra.
  Qed.

  Lemma line_touches b : 1 <= b <= exp s -> line s T (1 - b * exp (- s)) (b ^ S T * exp (- s)) = middle s T b.
  Proof.
    intros B. unfold line, middle. f_equal. rewrite Rmult_assoc, exp_neg, Rmult_1_r.
    pose proof (exp_pos (- s)) as E. pose proof (exp_neg s) as I. pose proof beyond_1.
    replace (1 - (1 - b * exp (- s))) with (b * exp (- s)) by ring.
    replace (1 - b * exp (- s)) with ((exp s - b) * exp (- s)) by lra.
    replace ((exp s - b) * exp (- s) / (b * exp (- s))) with ((exp s - b) / b) by (field; lra).
    rewrite !Rpow_mult_distr. unfold Rdiv. rewrite Rpow_mult_distr, pow_inv.
    replace (exp s ^ S T * ((exp s - b) ^ T * exp (- s) ^ T)) with (exp s * (exp s - b) ^ T * (exp (- s) * exp s) ^ T)
      by (rewrite Rpow_mult_distr; simpl; ring).
    rewrite I, pow1. simpl. field. apply pow_nonzero. lra.
  Qed.

  Lemma line_falls m a a' : 0 <= m < 1 -> a <= a' -> line s T m a' <= line s T m a.
  Proof.
    intros M A. unfold line. apply Rmult_le_compat_l; [left; apply share_pos|].
    assert (0 <= (m / (1 - m)) ^ T).
    { apply pow_le, Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]. }
    assert (a * exp s <= a' * exp s) by (apply Rmult_le_compat_r; [left; apply exp_pos|auto]). nra.
  Qed.

  (** No line falls faster than 1 - a. *)
  Lemma line_slope m a a' : 0 <= m <= 1 - exp (- s) -> a <= a' -> line s T m a - line s T m a' <= a' - a.
  Proof.
    intros M A. pose proof (exp_pos (- s)) as E. pose proof (exp_neg s) as I. pose proof beyond_1 as B.
    assert (Q : (m / (1 - m)) ^ T <= (exp s - 1) ^ T).
    { apply pow_incr. split; [apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]|].
      apply Rmult_le_reg_r with (1 - m); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. nra. }
    unfold line. set (k := (1 - exp (- s)) / (exp s - 1) ^ S T). pose proof share_pos as K. fold k in K.
    assert (One : k * (exp s - 1) ^ T * exp s = 1).
    { transitivity (exp (- s) * exp s); [|auto].
      unfold k. simpl. replace (1 - exp (- s)) with (exp (- s) * (exp s - 1)) by lra.
      field. split; [apply pow_nonzero|]; lra. }
    assert (0 <= k * ((exp s - 1) ^ T - (m / (1 - m)) ^ T) * exp s * (a' - a)).
    { apply Rmult_le_pos; [|lra]. apply Rmult_le_pos; [|lra]. apply Rmult_le_pos; lra. }
    replace (a' - a) with (k * (exp s - 1) ^ T * exp s * (a' - a)) at 2 by (rewrite One; ring). nra.
  Qed.
End Lines.

(** The curve as a function of a = e^epsilon, moved by u; 1 at a = 0, where no epsilon is. *)
Definition cover_profile (s : R) (T : nat) (u a : R) : R := if Rle_dec a 0 then 1 else f s T (ln a - u).

Lemma root_of s T x : - s < x -> exp ((x + s) / INR (S T)) ^ S T * exp (- s) = exp x.
Proof.
  intros _. assert (N : 0 < INR (S T)) by (apply lt_0_INR; lia). rewrite exp_pow, <- exp_plus. f_equal. field. lra.
Qed.

Lemma f_middle s T x : 0 < s -> - s < x -> x < INR T * s -> f s T x = middle s T (exp ((x + s) / INR (S T))).
Proof.
  intros S0 A B. pose proof (beyond_1 s S0) as E. unfold f. destruct (Rle_dec x (- s)); [lra|]. destruct (Rle_dec (INR T * s) x); [lra|].
  unfold middle. set (b := exp ((x + s) / INR (S T))).
  replace (1 - (b - 1) / (exp s - 1)) with ((exp s - b) * / (exp s - 1)) by (field; lra).
  rewrite Rpow_mult_distr, pow_inv. unfold Rdiv. ring.
Qed.

Lemma lines_below s T m x : 0 < s -> 0 <= m <= 1 - exp (- s) -> line s T m (exp x) <= f s T x.
Proof.
  intros S0 M. pose proof (beyond_1 s S0) as E. pose proof (exp_pos (- s)) as P. assert (M' : 0 <= m < 1) by lra.
  pose proof (exp_neg s) as I.
  destruct (Rle_dec x (- s)) as [A|A].
  - unfold f. destruct (Rle_dec x (- s)); [|lra].
    pose proof (line_slope s T S0 m (exp x) (exp (- s)) M (exp_le _ _ A)) as H.
    pose proof (line_below_middle s T S0 m 1 M' ltac:(lra)) as L. rewrite pow1, Rmult_1_l in L.
    assert (K : middle s T 1 = 1 - exp (- s)).
    { unfold middle. field. apply pow_nonzero. lra. }
    lra.
  - destruct (Rle_dec (INR T * s) x) as [B|B].
    + unfold f. destruct (Rle_dec x (- s)); [lra|]. destruct (Rle_dec (INR T * s) x); [|lra].
      pose proof (line_falls s T S0 m (exp (INR T * s)) (exp x) M' (exp_le _ _ B)) as H.
      pose proof (line_below_middle s T S0 m (exp s) M' ltac:(lra)) as L.
      replace (exp s ^ S T * exp (- s)) with (exp (INR T * s)) in L.
      2:{ rewrite exp_pow, <- exp_plus, S_INR. f_equal. ring. }
      unfold middle in L. replace (exp s - exp s) with 0 in L by ring. rewrite pow_i, Rmult_0_r in L by lia. lra.
    + rewrite f_middle by lra. rewrite <- (root_of s T x) by lra. apply line_below_middle; auto.
      split; [left; apply exp_pos|]. apply exp_le.
      assert (N : 0 < INR (S T)) by (apply lt_0_INR; lia). apply Rmult_le_reg_r with (INR (S T)); [auto|].
      unfold Rdiv. rewrite Rmult_assoc, Rinv_l, S_INR by lra. lra.
Qed.

Lemma steepest s T a : 0 < s -> line s T (1 - exp (- s)) a = 1 - a.
Proof.
  intros S0. pose proof (beyond_1 s S0) as E. pose proof (exp_pos (- s)) as P. pose proof (exp_neg s) as I.
  unfold line. replace (1 - (1 - exp (- s))) with (exp (- s)) by ring.
  replace ((1 - exp (- s)) / exp (- s)) with (exp s - 1).
  2:{ apply Rmult_eq_reg_r with (exp (- s)); [|lra]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
  replace (1 - exp (- s)) with (exp (- s) * (exp s - 1)) by lra. rewrite Rpow_mult_distr.
  replace (exp s ^ S T * (exp (- s) ^ T * (exp s - 1) ^ T)) with (exp s * (exp s - 1) ^ T * (exp (- s) * exp s) ^ T)
    by (rewrite Rpow_mult_distr; simpl; ring).
  rewrite I, pow1.
  replace (exp (- s) * (exp s - 1) / (exp s - 1) ^ S T * (exp s * (exp s - 1) ^ T * 1 - (exp s - 1) ^ T * (a * exp s)))
    with ((exp (- s) * exp s) * (1 - a)) by (simpl; field; split; [apply pow_nonzero|]; lra).
  rewrite I. ring.
Qed.

Lemma a_line_touches s T x : (1 <= T)%nat -> 0 < s -> exists m, 0 <= m <= 1 - exp (- s) /\ f s T x = line s T m (exp x).
Proof.
  intros T1 S0. pose proof (beyond_1 s S0) as E. pose proof (exp_pos (- s)) as P. pose proof (exp_neg s) as I.
  assert (N : 0 < INR (S T)) by (apply lt_0_INR; lia).
  destruct (Rle_dec x (- s)) as [A|A]; [|destruct (Rle_dec (INR T * s) x) as [B|B]].
  - exists (1 - exp (- s)). split; [split; [nra|lra]|]. rewrite steepest by auto. unfold f. destruct (Rle_dec x (- s)); lra.
  - exists 0. split; [split; [lra|nra]|]. unfold f. destruct (Rle_dec x (- s)); [lra|]. destruct (Rle_dec (INR T * s) x); [|lra].
    unfold line. unfold Rdiv at 2. rewrite Rmult_0_l, !pow_i by lia. ring.
  - pose proof (Rnot_le_lt _ _ A) as A'. pose proof (Rnot_le_lt _ _ B) as B'. set (b := exp ((x + s) / INR (S T))).
    assert (B1 : 1 <= b).
    { apply exp_ge_1. apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; auto]. }
    assert (B2 : b <= exp s).
    { apply exp_le. apply Rmult_le_reg_r with (INR (S T)); [auto|].
      unfold Rdiv. rewrite Rmult_assoc, Rinv_l, S_INR by lra. lra. }
    exists (1 - b * exp (- s)). split.
    + split; [|assert (1 * exp (- s) <= b * exp (- s)) by (apply Rmult_le_compat_r; lra); lra].
      assert (b * exp (- s) <= exp s * exp (- s)) by (apply Rmult_le_compat_r; lra). lra.
    + rewrite f_middle by lra. fold b. rewrite <- line_touches by (auto; lra). f_equal. unfold b. apply root_of. lra.
Qed.

(** * The curve is a bound as [curve_is_a_pair] wants it *)

Definition is_a_bound (H : R -> R) : Prop :=
  convex_from_0 H /\ falls H /\ H 0 = 1 /\ forall a, 0 <= a -> Rmax 0 (1 - a) <= H a.

Lemma larger_of_bounds H K : is_a_bound H -> is_a_bound K -> is_a_bound (fun a => Rmax (H a) (K a)).
Proof.
  intros [C [F [O L]]] [C' [F' [O' L']]]. split; [|split; [|split]].
  - intros a b t A B W. pose proof (Rmax_l (H a) (K a)). pose proof (Rmax_r (H a) (K a)).
    pose proof (Rmax_l (H b) (K b)). pose proof (Rmax_r (H b) (K b)).
    apply Rmax_lub; [eapply Rle_trans; [apply C; auto|]|eapply Rle_trans; [apply C'; auto|]]; nra.
  - intros a b A B. apply Rmax_lub; [eapply Rle_trans; [apply (F a b A B)|apply Rmax_l]|].
    eapply Rle_trans; [apply (F' a b A B)|apply Rmax_r].
  - rewrite O, O'. apply Rmax_left. lra.
  - intros a A. eapply Rle_trans; [apply L; auto|apply Rmax_l].
Qed.

(** A function that is the largest of lines, each of which falls no faster than 1 - a. *)
Lemma lines_are_a_bound (I : R -> Prop) (up down : R -> R) (H : R -> R) m1 u : 0 <= u -> I m1 ->
  (forall m a, I m -> 0 <= a -> up m - down m * (a * exp (- u)) <= H a) ->
  (forall a, 0 <= a -> exists m, I m /\ H a = up m - down m * (a * exp (- u))) ->
  (forall m, I m -> 0 <= down m) -> up m1 = 1 -> down m1 = 1 -> (forall a, 0 <= a -> 0 <= H a) -> H 0 = 1 ->
  is_a_bound H.
Proof.
  intros U I1 Below Touch Down U1 D1 Pos H0. pose proof (exp_pos (- u)) as P. split; [|split; [|split]]; auto.
  - intros a b t A B W. destruct (Touch (t * a + (1 - t) * b) ltac:(nra)) as [m [M ->]].
    pose proof (Below m a M A) as X. pose proof (Below m b M B) as Y.
    apply Rmult_le_compat_l with (r := t) in X; [|lra]. apply Rmult_le_compat_l with (r := 1 - t) in Y; [|lra]. nra.
  - intros a b A B. destruct (Touch b ltac:(lra)) as [m [M ->]]. eapply Rle_trans; [|apply (Below m a M A)].
    specialize (Down m M). assert (a * exp (- u) <= b * exp (- u)) by (apply Rmult_le_compat_r; lra). nra.
  - intros a A. apply pos_le; [auto|]. pose proof (Below m1 a I1 A) as X. rewrite U1, D1 in X.
    pose proof (exp_le_1 (- u) ltac:(lra)). nra.
Qed.

Theorem cover_profile_is_a_bound s T u : (1 <= T)%nat -> 0 <= s -> 0 <= u -> is_a_bound (cover_profile s T u).
Proof.
  intros T1 [S0|<-] U.
  - set (k := (1 - exp (- s)) / (exp s - 1) ^ S T). pose proof (beyond_1 s S0) as E. pose proof (exp_pos (- s)) as P.
    pose proof (exp_neg s) as I.
    assert (Eq : forall m a, line s T m a = k * (exp s ^ S T * m ^ T) - k * (m / (1 - m)) ^ T * exp s * a)
      by (intros; unfold line, k; ring).
    assert (At : forall a, 0 < a -> exp (ln a - u) = a * exp (- u)).
    { intros a A. unfold Rminus. rewrite exp_plus, exp_ln by auto. reflexivity. }
    apply (lines_are_a_bound (fun m => 0 <= m <= 1 - exp (- s)) (fun m => k * (exp s ^ S T * m ^ T))
             (fun m => k * (m / (1 - m)) ^ T * exp s) _ (1 - exp (- s)) u U).
    + nra.
    + intros m a M A. rewrite <- Eq. unfold cover_profile. destruct (Rle_dec a 0) as [Z|Z].
      * assert (a = 0) by lra. subst a. rewrite Rmult_0_l.
        pose proof (line_slope s T S0 m 0 (exp (- s)) M ltac:(lra)) as L. pose proof (lines_below s T m (- s) S0 M) as B.
        unfold f in B. destruct (Rle_dec (- s) (- s)); lra.
      * rewrite <- At by lra. apply lines_below; auto.
    + intros a A. unfold cover_profile. destruct (Rle_dec a 0) as [Z|Z].
      * exists (1 - exp (- s)). split; [nra|]. assert (a = 0) by lra. subst a.
        rewrite <- Eq, steepest by auto. lra.
      * destruct (a_line_touches s T (ln a - u) T1 S0) as [m [M L]]. exists m. split; [auto|].
        rewrite <- Eq, <- At by lra. exact L.
    + intros m M. apply Rmult_le_pos; [|lra]. apply Rmult_le_pos; [left; apply share_pos; auto|].
      apply pow_le, Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra].
    + pose proof (steepest s T 0 S0) as H. rewrite Eq in H. lra.
    + pose proof (steepest s T 0 S0) as H. pose proof (steepest s T 1 S0) as H'. rewrite Eq in H, H'. lra.
    + intros a A. unfold cover_profile. destruct (Rle_dec a 0); [lra|apply f_nonneg; lra].
    + unfold cover_profile. destruct (Rle_dec 0 0); lra.
  - assert (Eq : forall a, 0 <= a -> cover_profile 0 T u a = Rmax 0 (1 - a * exp (- u))).
    { intros a A. pose proof (exp_pos (- u)) as P. unfold cover_profile. destruct (Rle_dec a 0) as [Z|Z].
      - assert (a = 0) by lra. subst a. rewrite Rmult_0_l, Rmax_right; lra.
      - assert (At : exp (ln a - u) = a * exp (- u)) by (unfold Rminus; rewrite exp_plus, exp_ln by lra; auto).
        unfold f. destruct (Rle_dec (ln a - u) (- 0)) as [Y|Y].
        + rewrite At, Rmax_right; [auto|]. rewrite <- At. pose proof (exp_le_1 (ln a - u) ltac:(lra)). lra.
        + destruct (Rle_dec (INR T * 0) (ln a - u)); [|lra]. rewrite Rmax_left; [auto|]. rewrite <- At.
          pose proof (exp_ge_1 (ln a - u) ltac:(lra)). lra. }
    apply (lines_are_a_bound (fun m => m = 0 \/ m = 1) (fun m => m) (fun m => m) _ 1 u U); auto.
    + intros m a [-> | ->] A; rewrite Eq by auto; [pose proof (pos_nonneg (1 - a * exp (- u)))|
        pose proof (pos_ge (1 - a * exp (- u)))]; lra.
    + intros a A. rewrite Eq by auto. destruct (Rle_dec 0 (1 - a * exp (- u))).
      * exists 1. split; [auto|]. rewrite Rmax_right; lra.
      * exists 0. split; [auto|]. rewrite Rmax_left; lra.
    + intros m [-> | ->]; lra.
    + intros a A. rewrite Eq by auto. apply pos_nonneg.
    + unfold cover_profile. destruct (Rle_dec 0 0); lra.
Qed.

(** * A cover is dominated by the pair of its curve *)
Section Dominated.
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

  Lemma weight_pos rows h c : 0 < weight covers errs mass coverage error t rows h c.
  Proof. apply Rmult_lt_0_compat; [auto|apply exp_pos]. Qed.

  Lemma cover_is_a_law rows T : Sum (lists cand T []) (cover rows) = 1.
  Proof.
    unfold cover, cover_law. generalize (@nil C) as h. induction T as [|T IH]; intros h; simpl; [ring|].
    rewrite Sum_flat_map. transitivity (Sum (cand h) (draw cand (weight covers errs mass coverage error t rows) h)).
    - apply Sum_ext. intros c _. rewrite Sum_map. simpl. rewrite Sum_scal, IH. ring.
    - unfold draw, Rdiv. rewrite Sum_scal_r. apply Rinv_r. apply Rgt_not_eq, Sum_pos; auto. intros; apply weight_pos.
  Qed.

  Lemma cover_nonneg rows o : 0 <= cover rows o.
  Proof.
    unfold cover, cover_law. generalize (@nil C) as h. induction o as [|c o IH]; intros h; simpl; [lra|].
    apply Rmult_le_pos; [|apply IH]. apply Rmult_le_pos; [left; apply weight_pos|].
    left. apply Rinv_0_lt_compat, Sum_pos; auto. intros; apply weight_pos.
  Qed.

  Theorem cover_is_dominated_replace T a b l : (1 <= T)%nat -> replace a b ->
    let s := (1 + g) * t in
    let H := cover_profile s T s in
    rising 0 l -> on H l ->
    dominates (outcomes (changes 0 1 l)) (first_law (final 1 l)) (second_law (changes 0 1 l))
      (lists cand T []) (cover a) (cover b).
  Proof.
    intros T1 N s H R O. assert (S0 : 0 <= s) by (unfold s; nra).
    destruct (cover_profile_is_a_bound s T s T1 S0 S0) as [Cv [F [H0 L]]].
    apply curve_dominates with (H := H); auto. intros x X. unfold H, cover_profile. destruct (Rle_dec x 0).
    - replace x with 0 by lra. rewrite profile_0; [lra|]. split; [apply cover_nonneg|apply cover_is_a_law].
    - rewrite <- (exp_ln x) at 1 by lra. apply (cover_replace covers errs cand mass coverage error t g); auto.
  Qed.

  Theorem cover_is_dominated_add_remove T a b l : (1 <= T)%nat -> add_remove a b ->
    let H := fun x => Rmax (cover_profile t T (g * t) x) (cover_profile (g * t) T t x) in
    rising 0 l -> on H l ->
    dominates (outcomes (changes 0 1 l)) (first_law (final 1 l)) (second_law (changes 0 1 l))
      (lists cand T []) (cover a) (cover b).
  Proof.
    intros T1 N H R O. assert (G0 : 0 <= g * t) by nra.
    destruct (larger_of_bounds _ _ (cover_profile_is_a_bound t T (g * t) T1 t_nonneg G0)
      (cover_profile_is_a_bound (g * t) T t T1 G0 t_nonneg)) as [Cv [F [H0 L]]].
    apply curve_dominates with (H := H); auto. intros x X. unfold H, cover_profile. destruct (Rle_dec x 0).
    - replace x with 0 by lra. rewrite profile_0; [apply Rmax_l|]. split; [apply cover_nonneg|apply cover_is_a_law].
    - rewrite <- (exp_ln x) at 1 by lra. apply (cover_add_remove covers errs cand mass coverage error t g); auto.
  Qed.
End Dominated.

(** * Bounds at points, of whatever they are made *)

Lemma polygon_above_what_is_below H : convex_from_0 H -> falls H ->
  forall l a0 h0, 0 <= a0 -> rising a0 l -> H a0 <= h0 -> (forall c, In c l -> H (fst c) <= snd c) ->
  forall a, a0 <= a -> H a <= polygon a0 h0 l a.
Proof.
  intros C F. induction l as [|[a1 h1] l IH]; simpl; intros a0 h0 A R B O a X.
  - pose proof (F a0 a A X). lra.
  - destruct R as [L R]. pose proof (O (a1, h1) (or_introl eq_refl)) as B1. simpl in B1.
    destruct (Rle_dec a a1) as [D|D]; [|apply IH; auto; lra].
    assert (I : 0 < / (a1 - a0)) by (apply Rinv_0_lt_compat; lra).
    assert (W : 0 <= (a1 - a) / (a1 - a0) <= 1).
    { split; [apply Rmult_le_pos; lra|]. apply Rmult_le_reg_r with (a1 - a0); [lra|]. field_simplify; lra. }
    pose proof (C a0 a1 _ A ltac:(lra) W) as V.
    replace ((a1 - a) / (a1 - a0) * a0 + (1 - (a1 - a) / (a1 - a0)) * a1) with a in V by (field; lra).
    replace (h0 + (h1 - h0) / (a1 - a0) * (a - a0))
      with ((a1 - a) / (a1 - a0) * h0 + (1 - (a1 - a) / (a1 - a0)) * h1) by (field; lra).
    nra.
Qed.

(** The bounds need not be those of a convex curve: the slopes from point to point have to rise, as those of the hull of the
    code do, which takes bounds at a >= 1, and at 1 / a what they say of the other order ([mirror]). *)
Theorem bounds_at_points_dominate {X} (dom : list X) (A B : X -> R) (l : list (R * R)) :
  law dom A -> law dom B -> rising 0 l -> (forall c, In c l -> profile dom A B (fst c) <= snd c) ->
  (forall c, In c (changes 0 1 l) -> 0 <= snd c) -> - 1 <= slope 0 1 l -> 0 <= final 1 l ->
  dominates (outcomes (changes 0 1 l)) (first_law (final 1 l)) (second_law (changes 0 1 l)) dom A B.
Proof.
  intros LA LB R O Cv Sl Fi a Ha.
  assert (places : forall c, In c (changes 0 1 l) -> 0 < fst c) by (apply changes_places; auto).
  rewrite pair_profile; auto.
  - rewrite <- polygon_by_changes by auto. apply polygon_above_what_is_below; auto; [|intros x y X0 Y; apply profile_falls; auto|lra|].
    + intros x y t _ _ T. apply profile_convex; auto.
    + destruct LB as [B0 _]. auto.
    + rewrite profile_0 by auto. lra.
  - rewrite changes_sum. lra.
Qed.

(** Slopes between mirror images rise where those between the points do. *)
Theorem mirrored_slopes_rise (d : R -> R) a b c : 0 < a -> a < b -> b < c ->
  (d b - d a) / (b - a) <= (d c - d b) / (c - b) ->
  let m x := 1 - x + x * d (/ x) in
  (m (/ b) - m (/ c)) / (/ b - / c) <= (m (/ a) - m (/ b)) / (/ a - / b).
Proof.
  intros A B D H m. unfold m. rewrite !Rinv_inv.
  replace ((1 - / b + / b * d b - (1 - / c + / c * d c)) / (/ b - / c)) with (- 1 + d b - b * ((d c - d b) / (c - b)))
    by (field; repeat split; lra).
  replace ((1 - / a + / a * d a - (1 - / b + / b * d b)) / (/ a - / b)) with (- 1 + d b - b * ((d b - d a) / (b - a)))
    by (field; repeat split; lra).
  apply Rmult_le_compat_l with (r := b) in H; lra.
Qed.
