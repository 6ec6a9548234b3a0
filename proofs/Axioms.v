(** What is assumed beyond the real numbers; each statement names its source. *)
From Coq Require Import Reals ZArith List.
From Dpfast Require Import Sums Threshold.
Open Scope R_scope.

(** The weights of a Gaussian at the integers, centred at c. *)
Definition gauss (sigma c : R) (x : Z) : R := exp (- ((IZR x - c) * (IZR x - c) / (2 * (sigma * sigma)))).

(** Of all centres an integer one gives the integers the largest total weight.  By Poisson's summation formula: C. Canonne,
    G. Kamath, T. Steinke, The Discrete Gaussian for Differential Privacy, 2020, where it proves that discrete Gaussian
    noise is concentrated. *)
Axiom poisson_largest_at_integers : forall sigma c z,
  0 < sigma -> series (gauss sigma 0) z -> forall n, Sum (window n) (gauss sigma c) <= z.
