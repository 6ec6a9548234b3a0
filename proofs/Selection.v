(** The best of a geometric number of private runs: the theorem of dpfast.accounting.curves.selection. *)
From Coq Require Import Reals Lra List Psatz Lia.
From Dpfast Require Import Sums Privacy.
Import ListNotations.
Open Scope R_scope.

(** K is geometric with mean m: P(K = k) = g (1 - g)^(k - 1), g = 1 / m.  A run scores at most y with probability z; so
    do all of K runs with probability sum_k g (1 - g)^(k - 1) z^k = g z / (1 - (1 - g) z). *)
Definition best_of (g z : R) : R := g * z / (1 - (1 - g) * z).

Fixpoint first_terms (g z : R) (n : nat) : R :=
  match n with O => 0 | S n => first_terms g z n + g * (1 - g) ^ n * z ^ S n end.

Lemma best_of_terms g z n : 0 < g <= 1 -> 0 <= z <= 1 ->
  first_terms g z n = best_of g z * (1 - ((1 - g) * z) ^ n).
Proof.
  intros G Z. assert (D : 0 < 1 - (1 - g) * z) by nra. unfold best_of.
  induction n as [|n IH]; simpl; [field; lra|]. rewrite IH, Rpow_mult_distr. field. lra.
Qed.

Theorem best_of_is_the_law g z : 0 < g <= 1 -> 0 <= z <= 1 -> Un_cv (first_terms g z) (best_of g z).
Proof.
  intros G Z eps Heps. assert (D : 0 < 1 - (1 - g) * z) by nra.
  assert (B0 : 0 <= best_of g z).
  { apply Rmult_le_pos; [nra|left; apply Rinv_0_lt_compat; auto]. }
  assert (Q : Rabs ((1 - g) * z) < 1) by (rewrite Rabs_right; nra).
  destruct (pow_lt_1_zero _ Q (eps / (1 + best_of g z))) as [N HN].
  { apply Rdiv_lt_0_compat; lra. }
  exists N. intros n Hn. specialize (HN n Hn). unfold R_dist. rewrite best_of_terms by auto.
  replace (best_of g z * (1 - ((1 - g) * z) ^ n) - best_of g z) with (- (best_of g z * ((1 - g) * z) ^ n)) by ring.
  rewrite Rabs_Ropp, Rabs_mult, (Rabs_right (best_of g z)) by lra.
  apply Rle_lt_trans with (best_of g z * (eps / (1 + best_of g z))).
  - apply Rmult_le_compat_l; lra.
  - apply Rmult_lt_reg_r with (1 + best_of g z); [lra|].
    replace (best_of g z * (eps / (1 + best_of g z)) * (1 + best_of g z)) with (best_of g z * eps) by (field; lra). nra.
Qed.

Section Selection.
  Context {X : Type} (dom : list X) (score : X -> nat).
  Variable m : R.
  Hypothesis m_ge_1 : 1 <= m.

  (** The chance that a run beats y, and that it is at least as good. *)
  Definition beats (Q : X -> R) y : R := Sum dom (fun x => if lt_dec (score y) (score x) then Q x else 0).
  Definition matches (Q : X -> R) y : R := Sum dom (fun x => if le_dec (score y) (score x) then Q x else 0).

  (** The law of the best, the first among equals. *)
  Definition best (Q : X -> R) y : R := m * Q y / ((1 + (m - 1) * beats Q y) * (1 + (m - 1) * matches Q y)).

  (** Of all outcomes that score like y it has what the geometric law says: "all runs score at most y" less "all runs
      score less"; among them it is proportional to Q, as runs are alike. *)
  Theorem best_is_the_law (Q : X -> R) y : law dom Q ->
    Sum dom (fun x => if Nat.eq_dec (score x) (score y) then best Q x else 0) =
    best_of (/ m) (1 - beats Q y) - best_of (/ m) (1 - matches Q y).
  Proof.
    intros [Q0 Q1].
    assert (B : 0 <= beats Q y) by (apply Sum_nonneg; intros x _; destruct (lt_dec _ _); [auto|lra]).
    assert (M : 0 <= matches Q y) by (apply Sum_nonneg; intros x _; destruct (le_dec _ _); [auto|lra]).
    rewrite (Sum_ext _ _ (fun x => m / ((1 + (m - 1) * beats Q y) * (1 + (m - 1) * matches Q y)) *
      (if Nat.eq_dec (score x) (score y) then Q x else 0))).
    2:{ intros x _. destruct (Nat.eq_dec (score x) (score y)) as [E|E]; [|ring].
        unfold best, beats, matches. rewrite E. unfold Rdiv. ring. }
    rewrite Sum_scal.
    assert (E : Sum dom (fun x => if Nat.eq_dec (score x) (score y) then Q x else 0) = matches Q y - beats Q y).
    { unfold matches, beats. rewrite <- Sum_minus. apply Sum_ext. intros x _.
      destruct (Nat.eq_dec (score x) (score y)), (le_dec (score y) (score x)), (lt_dec (score y) (score x)); lia || lra. }
    rewrite E. unfold best_of. assert (0 <= (m - 1) * beats Q y) by nra. assert (0 <= (m - 1) * matches Q y) by nra.
    replace (1 - (1 - / m) * (1 - beats Q y)) with ((1 + (m - 1) * beats Q y) / m) by (field; lra).
    replace (1 - (1 - / m) * (1 - matches Q y)) with ((1 + (m - 1) * matches Q y) / m) by (field; lra).
    field. lra.
  Qed.

  (** T bounds every test that Q passes with probability u; [c] is that of the theorem. *)
  Variable T : R -> R.
  Variable c : R.
  Hypothesis c_enough : forall u, 0 <= u <= 1 -> 1 + (m - 1) * T u <= exp (c / 2) * (1 + (m - 1) * u).

  Theorem selection (Q Q' : X -> R) e d :
    law dom Q -> law dom Q' ->
    (forall S : X -> bool, Sum dom (fun x => if S x then Q' x else 0) <= T (Sum dom (fun x => if S x then Q x else 0))) ->
    private dom e d Q Q' -> private dom (e + c) (m * d) (best Q) (best Q').
  Proof.
    intros [Q0 Q1] [Q0' Q1'] HT H.
    assert (Part : forall S : X -> bool, 0 <= Sum dom (fun x => if S x then Q x else 0) <= 1).
    { intros S. split; [apply Sum_nonneg; intros x _; destruct (S x); [auto|lra]|].
      rewrite <- Q1. apply Sum_le. intros x _. destruct (S x); [lra|auto]. }
    assert (Lt : forall R y, beats R y = Sum dom (fun x => if (if lt_dec (score y) (score x) then true else false) then R x else 0)).
    { intros R y. apply Sum_ext. intros x _. destruct (lt_dec _ _); auto. }
    assert (Le : forall R y, matches R y = Sum dom (fun x => if (if le_dec (score y) (score x) then true else false) then R x else 0)).
    { intros R y. apply Sum_ext. intros x _. destruct (le_dec _ _); auto. }
    unfold private, hockey in *.
    apply Rle_trans with (m * Sum dom (fun x => Rmax 0 (Q x - exp e * Q' x))); [|apply Rmult_le_compat_l; lra].
    rewrite <- Sum_scal. apply Sum_le. intros y _.
    set (b := 1 + (m - 1) * beats Q y). set (a := 1 + (m - 1) * matches Q y).
    set (b' := 1 + (m - 1) * beats Q' y). set (a' := 1 + (m - 1) * matches Q' y).
    assert (B : 1 <= b).
    { unfold b. rewrite Lt. pose proof (Part (fun x => if lt_dec (score y) (score x) then true else false)). nra. }
    assert (A : 1 <= a).
    { unfold a. rewrite Le. pose proof (Part (fun x => if le_dec (score y) (score x) then true else false)). nra. }
    assert (B' : 0 <= beats Q' y) by (apply Sum_nonneg; intros x _; destruct (lt_dec _ _); [auto|lra]).
    assert (A' : 0 <= matches Q' y) by (apply Sum_nonneg; intros x _; destruct (le_dec _ _); [auto|lra]).
    assert (B1 : 1 <= b') by (unfold b'; nra). assert (A1 : 1 <= a') by (unfold a'; nra).
    assert (BB : b' <= exp (c / 2) * b).
    { unfold b', b. rewrite !Lt. eapply Rle_trans; [|apply c_enough, Part].
      apply Rplus_le_compat_l. apply Rmult_le_compat_l; [lra|]. apply HT. }
    assert (AA : a' <= exp (c / 2) * a).
    { unfold a', a. rewrite !Le. eapply Rle_trans; [|apply c_enough, Part].
      apply Rplus_le_compat_l. apply Rmult_le_compat_l; [lra|]. apply HT. }
    assert (AB : b' * a' <= exp c * (b * a)).
    { replace (exp c) with (exp (c / 2) * exp (c / 2)) by (rewrite <- exp_plus; f_equal; field).
      apply Rle_trans with ((exp (c / 2) * b) * (exp (c / 2) * a)); [apply Rmult_le_compat; lra|]. apply Req_le; ring. }
    unfold best. fold a b a' b'. specialize (Q0 y). specialize (Q0' y).
    pose proof (pos_ge (Q y - exp e * Q' y)) as P. pose proof (pos_nonneg (Q y - exp e * Q' y)) as P0.
    assert (ab : 1 <= b * a) by nra. assert (ab' : 1 <= b' * a') by nra.
    apply pos_le; [nra|].
    assert (D : / (b * a) <= exp c * / (b' * a')).
    { apply Rmult_le_reg_r with ((b * a) * (b' * a')); [nra|].
      replace (/ (b * a) * (b * a * (b' * a'))) with (b' * a') by (field; split; lra).
      replace (exp c * / (b' * a') * (b * a * (b' * a'))) with (exp c * (b * a)) by (field; split; lra). auto. }
    assert (I1 : / (b * a) <= 1) by (rewrite <- Rinv_1; apply Rinv_le_contravar; lra).
    assert (I0 : 0 < / (b * a)) by (apply Rinv_0_lt_compat; lra).
    rewrite exp_plus. unfold Rdiv.
    assert (K : 0 <= m * exp e * Q' y).
    { apply Rmult_le_pos; [apply Rmult_le_pos; [lra|left; apply exp_pos]|auto]. }
    apply Rle_trans with (m * Q y * / (b * a) - m * exp e * Q' y * / (b * a)).
    - assert (m * exp e * Q' y * / (b * a) <= m * exp e * Q' y * (exp c * / (b' * a'))) by (apply Rmult_le_compat_l; auto).
      lra.
    - replace (m * Q y * / (b * a) - m * exp e * Q' y * / (b * a)) with (m * ((Q y - exp e * Q' y) * / (b * a))) by ring.
      apply Rmult_le_compat_l; [lra|]. nra.
  Qed.
End Selection.

(** ** What tests can reach, from claims: T(u) <= e^e u + d and <= 1 - e^-e (1 - d - u) *)
Theorem tests_of_a_claim {X} (dom : list X) (Q Q' : X -> R) e d (S : X -> bool) :
  law dom Q -> law dom Q' -> private dom e d Q Q' -> private dom e d Q' Q ->
  let u := Sum dom (fun x => if S x then Q x else 0) in
  Sum dom (fun x => if S x then Q' x else 0) <= Rmin (exp e * u + d) (1 - exp (- e) * (1 - d - u)).
Proof.
  intros [_ Q1] [_ Q1'] H H' u. apply Rmin_glb.
  - apply (proj1 (private_events dom e d Q' Q) H').
  - pose proof (proj1 (private_events dom e d Q Q') H (fun x => negb (S x))) as K. simpl in K.
    assert (C : forall R : X -> R, Sum dom (fun x => if negb (S x) then R x else 0) =
                 Sum dom R - Sum dom (fun x => if S x then R x else 0)).
    { intros R. rewrite <- Sum_minus. apply Sum_ext. intros x _. destruct (S x); simpl; ring. }
    rewrite !C, Q1, Q1' in K. fold u in K.
    pose proof (exp_neg e). pose proof (exp_pos e). pose proof (exp_pos (- e)).
    set (v := Sum dom (fun x => if S x then Q' x else 0)) in *.
    assert (W : exp (- e) * (1 - u) <= exp (- e) * (exp e * (1 - v) + d)) by (apply Rmult_le_compat_l; lra).
    replace (exp (- e) * (exp e * (1 - v) + d)) with ((exp (- e) * exp e) * (1 - v) + exp (- e) * d) in W by ring.
    rewrite exp_neg in W. lra.
Qed.

(** One pure claim: c = 2 ln((m e^e + 1) / (m + e^e)). *)
Theorem selection_pure {X} (dom : list X) (score : X -> nat) m (Q Q' : X -> R) e :
  1 <= m -> 0 <= e -> law dom Q -> law dom Q' -> private dom e 0 Q Q' -> private dom e 0 Q' Q ->
  private dom (e + 2 * ln ((m * exp e + 1) / (m + exp e))) 0 (best dom score m Q) (best dom score m Q').
Proof.
  intros Hm He LQ LQ' H H'. pose proof (exp_ge_1 e He) as E1.
  rewrite <- (Rmult_0_r m). set (c := 2 * ln ((m * exp e + 1) / (m + exp e))).
  apply selection with (T := fun u => Rmin (exp e * u) (1 - exp (- e) * (1 - u))); auto.
  - intros u [U0 U1]. unfold c. replace (2 * ln ((m * exp e + 1) / (m + exp e)) / 2) with
      (ln ((m * exp e + 1) / (m + exp e))) by field.
    assert (0 <= m * exp e) by (apply Rmult_le_pos; lra). rewrite exp_ln by (apply Rdiv_lt_0_compat; lra).
    set (x := exp e) in *. assert (Hx : exp (- e) = / x) by (unfold x; rewrite exp_Ropp; auto). rewrite Hx.
    assert (A := Rmin_l (x * u) (1 - / x * (1 - u))). assert (B := Rmin_r (x * u) (1 - / x * (1 - u))).
    set (t := Rmin (x * u) (1 - / x * (1 - u))) in *.
    apply Rmult_le_reg_r with (m + x); [lra|].
    replace ((m * x + 1) / (m + x) * (1 + (m - 1) * u) * (m + x)) with ((m * x + 1) * (1 + (m - 1) * u)) by (field; lra).
    assert (B' : x * t <= x - 1 + u).
    { apply Rle_trans with (x * (1 - / x * (1 - u))); [apply Rmult_le_compat_l; lra|].
      apply Req_le. field. lra. }
    (* the two lines meet at u = 1 / (1 + x), where the quotient is largest *)
    assert (M1 : 0 <= m - 1) by lra.
    destruct (Rle_dec (u * (1 + x)) 1) as [C|C].
    + assert (K : (m - 1) * t * (m + x) <= (m - 1) * (x * u) * (m + x)).
      { apply Rmult_le_compat_r; [lra|]. apply Rmult_le_compat_l; lra. }
      assert (0 <= (m - 1) * (x - 1) * (1 - u * (1 + x))).
      { apply Rmult_le_pos; [apply Rmult_le_pos|]; lra. }
      lra.
    + assert (K : (m - 1) * (x * t) * (m + x) <= (m - 1) * (x - 1 + u) * (m + x)).
      { apply Rmult_le_compat_r; [lra|]. apply Rmult_le_compat_l; lra. }
      apply Rmult_le_reg_l with x; [lra|].
      assert (0 <= m * (m - 1) * (x - 1) * (u * (1 + x) - 1)).
      { apply Rmult_le_pos; [|lra]. apply Rmult_le_pos; [apply Rmult_le_pos|]; lra. }
      lra.
  - intros S. pose proof (tests_of_a_claim dom Q Q' e 0 S LQ LQ' H H') as K. simpl in K.
    rewrite Rplus_0_r, Rminus_0_r in K. exact K.
Qed.

(** At most 3 e, however many runs (Liu and Talwar). *)
Theorem selection_at_most_3 m e : 1 <= m -> 0 <= e -> e + 2 * ln ((m * exp e + 1) / (m + exp e)) <= 3 * e.
Proof.
  intros Hm He. pose proof (exp_ge_1 e He) as E1.
  assert (ln ((m * exp e + 1) / (m + exp e)) <= e); [|lra].
  apply Rle_trans with (ln (exp e)); [|rewrite ln_exp; lra].
  destruct (Rle_lt_or_eq_dec ((m * exp e + 1) / (m + exp e)) (exp e)) as [L|L].
  - apply Rmult_le_reg_r with (m + exp e); [lra|]. assert (0 <= (exp e - 1) * (exp e + 1)) by (apply Rmult_le_pos; lra).
    unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
  - left. apply ln_increasing; [apply Rdiv_lt_0_compat; [assert (0 <= m * exp e) by (apply Rmult_le_pos; lra)|]; lra|auto].
  - rewrite L. lra.
Qed.

(** Several claims, as runs with Gaussian noise have them: T is the least of their lines, and it is enough that c holds
    against every line at the corners; [selection] takes any such T.  Here for a list of claims. *)
Definition test_line (u : R) (claim : R * R) : R :=
  Rmin (exp (fst claim) * u + snd claim) (1 - exp (- fst claim) * (1 - snd claim - u)).

Definition envelope (claims : list (R * R)) (u : R) : R := fold_right (fun k t => Rmin (test_line u k) t) 1 claims.

Theorem selection_of_claims {X} (dom : list X) (score : X -> nat) m (Q Q' : X -> R) claims c e d :
  1 <= m -> law dom Q -> law dom Q' ->
  (forall k, In k claims -> private dom (fst k) (snd k) Q Q' /\ private dom (fst k) (snd k) Q' Q) ->
  (forall u, 0 <= u <= 1 -> 1 + (m - 1) * envelope claims u <= exp (c / 2) * (1 + (m - 1) * u)) ->
  In (e, d) claims -> private dom (e + c) (m * d) (best dom score m Q) (best dom score m Q').
Proof.
  intros Hm LQ LQ' H Hc I. apply selection with (T := envelope claims); auto.
  - intros S. clear Hc I. induction claims as [|k r IH]; simpl.
    + destruct LQ' as [Q0' Q1']. rewrite <- Q1'. apply Sum_le. intros x _. destruct (S x); [lra|auto].
    + apply Rmin_glb; [|apply IH; intros; apply H; right; auto].
      destruct (H k (or_introl eq_refl)). apply (tests_of_a_claim dom Q Q'); auto.
  - apply (H (e, d) I).
Qed.

(** It is enough to look at corners: between two of them the envelope lies below one line, and where the inequality holds at
    both ends for that line it holds between. *)
Theorem between_corners m k slope level x y u claims line :
  1 <= m -> x <= u <= y -> x < y -> In line claims ->
  (forall v, test_line v line <= slope * v + level) ->
  1 + (m - 1) * (slope * x + level) <= k * (1 + (m - 1) * x) ->
  1 + (m - 1) * (slope * y + level) <= k * (1 + (m - 1) * y) ->
  1 + (m - 1) * envelope claims u <= k * (1 + (m - 1) * u).
Proof.
  intros Hm [XU UY] XY I L HX HY.
  assert (E : envelope claims u <= slope * u + level).
  { apply Rle_trans with (2 := L u). clear L. induction claims as [|c r IH]; [contradiction|].
    simpl. destruct I as [->|I]; [apply Rmin_l|]. eapply Rle_trans; [apply Rmin_r|auto]. }
  apply Rle_trans with (1 + (m - 1) * (slope * u + level)).
  { apply Rplus_le_compat_l. apply Rmult_le_compat_l; lra. }
  apply Rmult_le_reg_l with (y - x); [lra|].
  assert (A : (y - u) * (1 + (m - 1) * (slope * x + level)) <= (y - u) * (k * (1 + (m - 1) * x))) by (apply Rmult_le_compat_l; lra).
  assert (B : (u - x) * (1 + (m - 1) * (slope * y + level)) <= (u - x) * (k * (1 + (m - 1) * y))) by (apply Rmult_le_compat_l; lra).
  lra.
Qed.
