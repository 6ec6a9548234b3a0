(** Discrete Gaussian noise: its concentrated privacy, and what stands in for it at a distance. *)
From Coq Require Import Reals Lra List Psatz ZArith.
From Dpfast Require Import Sums Privacy Threshold Concentrated Selection Axioms.
Import ListNotations.
Open Scope R_scope.

(** The law of an integer q plus noise, at x: z is the sum of all weights. *)
Definition discrete_gaussian (sigma z q : R) (x : Z) : R := gauss sigma q x / z.

(** s^2 / (2 sigma^2)-zCDP for one coordinate that neighbours move by s = q - q' on the grid: on every window of
    outcomes, so on all of them. *)
Theorem discrete_gaussian_zcdp sigma z (q q' : Z) n :
  0 < sigma -> series (gauss sigma 0) z ->
  zcdp (window n) ((IZR q - IZR q') * (IZR q - IZR q') / (2 * (sigma * sigma)))
    (discrete_gaussian sigma z (IZR q)) (discrete_gaussian sigma z (IZR q')).
Proof.
  intros S Z a Ha. assert (Z0 : 0 < z).
  { destruct Z as [U _]. apply Rlt_le_trans with (Sum (window 0) (gauss sigma 0)).
    - simpl. pose proof (exp_pos (- ((IZR 0 - 0) * (IZR 0 - 0) / (2 * (sigma * sigma))))). unfold gauss. simpl in *. lra.
    - apply U. exists O; auto. }
  set (s2 := 2 * (sigma * sigma)). assert (S2 : 0 < s2) by (unfold s2; apply Rmult_lt_0_compat; [lra|apply Rmult_lt_0_compat; auto]).
  set (d := IZR q - IZR q').
  (* completing the square: the weights of a centre between or beyond the two *)
  assert (E : forall x, discrete_gaussian sigma z (IZR q') x *
      exp (a * ln (discrete_gaussian sigma z (IZR q) x / discrete_gaussian sigma z (IZR q') x)) =
      exp (a * (a - 1) * (d * d / s2)) * / z * gauss sigma (IZR q' + a * d) x).
  { intros x. unfold discrete_gaussian.
    assert (L : ln (gauss sigma (IZR q) x / z / (gauss sigma (IZR q') x / z)) =
                (- ((IZR x - IZR q) * (IZR x - IZR q)) + (IZR x - IZR q') * (IZR x - IZR q')) / s2).
    { unfold gauss. fold s2.
      replace (exp (- ((IZR x - IZR q) * (IZR x - IZR q) / s2)) / z / (exp (- ((IZR x - IZR q') * (IZR x - IZR q') / s2)) / z))
        with (exp (- ((IZR x - IZR q) * (IZR x - IZR q) / s2)) * / exp (- ((IZR x - IZR q') * (IZR x - IZR q') / s2))).
      2:{ field. split; [lra|]. pose proof (exp_pos (- ((IZR x - IZR q') * (IZR x - IZR q') / s2))). lra. }
      rewrite <- exp_Ropp, <- exp_plus, ln_exp. field. lra. }
    rewrite L. unfold gauss. fold s2. unfold Rdiv at 1. rewrite Rmult_assoc, (Rmult_comm (/ z)), <- Rmult_assoc, <- exp_plus.
    rewrite (Rmult_comm (exp (a * (a - 1) * (d * d / s2)))), Rmult_assoc, <- exp_plus, (Rmult_comm (/ z)).
    f_equal. f_equal. unfold d. field. lra. }
  unfold moment. rewrite (Sum_ext _ _ _ (fun x _ => E x)), Sum_scal.
  pose proof (poisson_largest_at_integers sigma (IZR q' + a * d) z S Z n) as P.
  pose proof (exp_pos (a * (a - 1) * (d * d / s2))) as X.
  apply Rle_trans with (exp (a * (a - 1) * (d * d / s2)) * / z * z).
  - apply Rmult_le_compat_l; [|auto]. apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; auto].
  - rewrite Rmult_assoc, Rinv_l by lra. lra.
Qed.

(** A law at distance w of one with a claim: (1 + e^E) w more. *)
Definition within {X} (dom : list X) w (P Q : X -> R) : Prop :=
  forall S : X -> bool, Sum dom (fun x => if S x then P x else 0) <= Sum dom (fun x => if S x then Q x else 0) + w.

Theorem claim_at_a_distance {X} (dom : list X) E d w (P Q P' Q' : X -> R) :
  within dom w P Q -> within dom w Q' P' -> private dom E d Q Q' -> private dom E (d + (1 + exp E) * w) P P'.
Proof.
  intros H H' C. apply private_events. intros S. specialize (H S). specialize (H' S).
  pose proof (proj1 (private_events dom E d Q Q') C S) as C'. simpl in C'. pose proof (exp_pos E).
  assert (exp E * Sum dom (fun x => if S x then Q' x else 0) <=
          exp E * (Sum dom (fun x => if S x then P' x else 0) + w)) by (apply Rmult_le_compat_l; lra). lra.
Qed.

(** Selection among runs that are rho-zCDP, Gaussian ones: any orders give the claims that the envelope is made of. *)
Definition concentrated_claim rho (k : R * R) : R * R :=
  let (E, b) := k in (E, exp (b * ((1 + b) * rho - E) - b * ln (1 + 1 / b) - ln (1 + b))).

Theorem selection_of_concentrated_runs {X} (dom : list X) (score : X -> nat) m (Q Q' : X -> R) rho orders c E b :
  1 <= m -> law dom Q -> law dom Q' -> (forall x, 0 < Q x) -> (forall x, 0 < Q' x) ->
  zcdp dom rho Q Q' -> zcdp dom rho Q' Q -> (forall k, In k orders -> 0 < snd k) ->
  (forall u, 0 <= u <= 1 ->
     1 + (m - 1) * envelope (map (concentrated_claim rho) orders) u <= exp (c / 2) * (1 + (m - 1) * u)) ->
  In (E, b) orders ->
  private dom (E + c) (m * snd (concentrated_claim rho (E, b))) (best dom score m Q) (best dom score m Q').
Proof.
  intros Hm LQ LQ' Q0 Q0' Z Z' B Hc I.
  apply selection_of_claims with (claims := map (concentrated_claim rho) orders); auto.
  - intros k K. apply in_map_iff in K. destruct K as [[E' b'] [<- K]]. specialize (B _ K). simpl in *.
    split; apply zcdp_conversion; auto.
  - apply (in_map (concentrated_claim rho) orders (E, b) I).
Qed.
