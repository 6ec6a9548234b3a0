(** The exact curve of Gaussian noise (Balle and Wang, 2018) as a function of sigma and epsilon, for sensitivity 1, and how
    a number is compared with it; GaussianNumbers.v holds the numbers.  The tail of the normal law is written by the
    integral from 0, so that no integral over a half line is needed; that the whole has mass sqrt (2 PI), and that the
    curve is that of the mechanism, is taken from the paper. *)
From Coq Require Import Reals Lra.
From Coquelicot Require Import Coquelicot.
From Interval Require Import Tactic.
Open Scope R_scope.

Definition mass (x : R) : R := RInt (fun t => exp (- (t * t) / 2)) 0 x.

Definition tail (x : R) : R := / 2 - mass x / sqrt (2 * PI).

Definition gaussian_delta (sigma E : R) : R :=
  tail (E * sigma - / (2 * sigma)) - exp E * tail (E * sigma + / (2 * sigma)).

Theorem gaussian_fits low high sigma E delta :
  low <= mass (E * sigma - / (2 * sigma)) -> mass (E * sigma + / (2 * sigma)) <= high ->
  / 2 - low / sqrt (2 * PI) - exp E * (/ 2 - high / sqrt (2 * PI)) <= delta ->
  gaussian_delta sigma E <= delta.
Proof.
  intros L H D. eapply Rle_trans; [|exact D]. unfold gaussian_delta, tail.
  assert (S : 0 < / sqrt (2 * PI)) by (apply Rinv_0_lt_compat, sqrt_lt_R0; pose proof PI_RGT_0; lra).
  unfold Rdiv. pose proof (Rmult_le_compat_r _ _ _ (Rlt_le _ _ S) L) as A.
  pose proof (Rmult_le_compat_r _ _ _ (Rlt_le _ _ S) H) as B. pose proof (exp_pos E) as P.
  pose proof (Rmult_le_compat_l _ _ _ (Rlt_le _ _ P) B) as C. lra.
Qed.

Ltac gaussian low high :=
  apply (gaussian_fits low high);
  [ unfold mass; integral with (i_prec 120, i_fuel 2000, i_relwidth 78, i_degree 30)
  | unfold mass; integral with (i_prec 120, i_fuel 2000, i_relwidth 78, i_degree 30)
  | interval with (i_prec 120) ].

(** The chance that noise reaches x, from a lower bound of the mass. *)
Theorem tail_fits low x d : low <= mass x -> / 2 - low / sqrt (2 * PI) <= d -> tail x <= d.
Proof.
  intros L D. eapply Rle_trans; [|exact D]. unfold tail.
  assert (S : 0 < / sqrt (2 * PI)) by (apply Rinv_0_lt_compat, sqrt_lt_R0; pose proof PI_RGT_0; lra).
  unfold Rdiv. pose proof (Rmult_le_compat_r _ _ _ (Rlt_le _ _ S) L). lra.
Qed.

(** What fits a claim: Gaussian noise of mu, at the distance w from what is drawn, beside words that are told with the
    chance d ([Gaussian.claim_at_a_distance], [Survey.survey_curve]). *)
Definition mu_fits (mu E w d delta : R) : Prop := d + (1 - d) * (gaussian_delta (/ mu) E + (1 + exp E) * w) <= delta.

Theorem mu_fits_by g mu E w d delta : 0 <= d <= 1 ->
  gaussian_delta (/ mu) E <= g -> d + (1 - d) * (g + (1 + exp E) * w) <= delta -> mu_fits mu E w d delta.
Proof.
  intros D G H. unfold mu_fits. eapply Rle_trans; [|exact H]. apply Rplus_le_compat_l, Rmult_le_compat_l; [lra|].
  apply Rplus_le_compat_r. exact G.
Qed.

Ltac tail_below low := apply (tail_fits low);
  [ unfold mass; integral with (i_prec 120, i_fuel 2000, i_relwidth 78, i_degree 30) | interval with (i_prec 120) ].

Ltac fits g low high := apply (mu_fits_by g); [lra|gaussian low high|interval with (i_prec 120)].
