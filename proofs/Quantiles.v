(** Edges between bins (dpfast.mechanisms.quantiles): how far a row moves the score of a candidate.

    Of N numbers in an interval, [below] are at most the candidate; the score is minus the distance from a share q of them. *)
From Coq Require Import Reals Lra.
Open Scope R_scope.

Definition edge_score (q below N : R) : R := - Rabs (below - q * N).

(** The length of an interval of all changes, for a row that is added or removed. *)
Definition edge_width (q : R) : R := 2 * Rmax q (1 - q).

Lemma distance_moves a b : Rabs (Rabs a - Rabs b) <= Rabs (a - b).
Proof. apply Rabs_triang_inv2. Qed.

(** A number that is added is at most the candidate, or above it. *)
Theorem edge_score_add q below N (at_most : bool) : 0 <= q <= 1 ->
  - (edge_width q / 2) <= edge_score q (below + if at_most then 1 else 0) (N + 1) - edge_score q below N <= edge_width q / 2.
Proof.
  intros Q. unfold edge_score, edge_width.
  pose proof (Rmax_l q (1 - q)) as A. pose proof (Rmax_r q (1 - q)) as B. set (w := Rmax q (1 - q)) in *.
  set (c := below + (if at_most then 1 else 0) - q * (N + 1)). set (d := below - q * N).
  assert (M : Rabs (c - d) <= w).
  { replace (c - d) with ((if at_most then 1 else 0) - q) by (unfold c, d; ring). apply Rabs_le. destruct at_most; lra. }
  pose proof (distance_moves c d) as T. apply Rle_trans with (r3 := w) in T; auto.
  replace (2 * w / 2) with w by field.
  pose proof (Rle_abs (Rabs c - Rabs d)). pose proof (Rle_abs (- (Rabs c - Rabs d))). rewrite Rabs_Ropp in *. lra.
Qed.

(** A number that is replaced by another of the interval: the length is 2. *)
Theorem edge_score_replace q below N (before after : bool) :
  -1 <= edge_score q (below + (if after then 1 else 0) - (if before then 1 else 0)) N - edge_score q below N <= 1.
Proof.
  unfold edge_score. set (c := below + (if after then 1 else 0) - (if before then 1 else 0) - q * N). set (d := below - q * N).
  assert (M : Rabs (c - d) <= 1).
  { replace (c - d) with ((if after then 1 else 0) - (if before then 1 else 0)) by (unfold c, d; ring).
    apply Rabs_le. destruct before, after; lra. }
  pose proof (distance_moves c d) as T. apply Rle_trans with (r3 := 1) in T; auto.
  pose proof (Rle_abs (Rabs c - Rabs d)). pose proof (Rle_abs (- (Rabs c - Rabs d))). rewrite Rabs_Ropp in *. lra.
Qed.
