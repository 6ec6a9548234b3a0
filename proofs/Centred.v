(** The norm of a centred row, and the limit of its residual (dpfast.learners.halfspaces.images, dpfast.tables.codes and
    unit_rows): all in integers, so that rounding cannot lengthen a row. *)
From Coq Require Import Reals Lra List Psatz Lia ZArith.
From Dpfast Require Import Sums Privacy Sensitivity Plans.
Import ListNotations.
Open Scope R_scope.

(** A row of codes: each column contributes entries of its own, from which a mean is subtracted; [top] is the entry of the
    intercept. *)
Section Codes.
  Context {Column Entry : Type} (columns : list Column) (entries : list Entry).
  Context (image mean : Column -> Entry -> R) (top : R).

  Definition places_of_row : list (Column * Entry + unit) := map inl (list_prod columns entries) ++ [inr tt].

  Definition centred (z : Column * Entry + unit) : R :=
    match z with inl (c, e) => image c e - mean c e | inr _ => top end.

  (** What a code adds to the square of a row. *)
  Definition square_of_code (c : Column) : R :=
    Sum entries (fun e => image c e * image c e) - 2 * Sum entries (fun e => image c e * mean c e)
    + Sum entries (fun e => mean c e * mean c e).

  Theorem square_of_centred : square places_of_row centred = Sum columns square_of_code + top * top.
  Proof.
    unfold square, places_of_row. rewrite Sum_app, Sum_map, Sum_list_prod. simpl. rewrite Rplus_0_r. f_equal.
    apply Sum_ext. intros c _. unfold square_of_code. rewrite <- Sum_scal, <- Sum_minus, <- Sum_plus.
    apply Sum_ext. intros e _. ring.
  Qed.

  (** Squares are divided by a step and rounded up, and the square of the largest row within the radius is rounded down. *)
  Theorem limit_of_codes (rounded : Z) (step allowed radius most limit : R) :
    0 < step -> 0 <= radius -> 0 <= most -> 0 <= limit ->
    Sum columns square_of_code + top * top <= step * IZR rounded -> step * allowed <= radius * radius ->
    limit * limit * IZR rounded <= most * most * allowed ->
    limit * norm places_of_row centred <= most * radius.
  Proof.
    intros S R0 M L Up Down H. pose proof (norm_nonneg places_of_row centred) as N. pose proof (norm_square places_of_row centred) as Q.
    rewrite square_of_centred in Q. set (n := norm places_of_row centred) in *.
    assert (K : (limit * n) * (limit * n) <= (most * radius) * (most * radius)).
    { apply Rle_trans with (limit * limit * (step * IZR rounded)).
      - replace (limit * n * (limit * n)) with (limit * limit * (n * n)) by ring. apply Rmult_le_compat_l; [nra|lra].
      - apply Rle_trans with (most * most * (step * allowed)).
        + replace (limit * limit * (step * IZR rounded)) with (step * (limit * limit * IZR rounded)) by ring.
          replace (most * most * (step * allowed)) with (step * (most * most * allowed)) by ring.
          apply Rmult_le_compat_l; lra.
        + replace (most * radius * (most * radius)) with (most * most * (radius * radius)) by ring.
          apply Rmult_le_compat_l; [nra|auto]. }
    assert (A : 0 <= limit * n) by (apply Rmult_le_pos; auto). assert (B : 0 <= most * radius) by (apply Rmult_le_pos; auto).
    apply Rsqr_incr_0; auto.
  Qed.
End Codes.

(** Division that rounds up, as the code has it. *)
Lemma rounded_up (a step : Z) : (0 < step)%Z -> (a <= step * - (- a / step))%Z.
Proof. intros S. pose proof (Z.mul_div_le (- a) step S). lia. Qed.

(** A plain row: its norm is rounded up, and the limit is what the reach allows, rounded down. *)
Theorem limit_of_plain_rows {J} (coords : list J) (v : J -> R) (length radius reach : Z) :
  (0 < radius)%Z -> (0 <= reach)%Z -> norm coords v <= IZR length ->
  IZR (reach / Z.max length radius) * norm coords v <= IZR reach.
Proof.
  intros R0 H N. pose proof (norm_nonneg coords v) as P. assert (M : (0 < Z.max length radius)%Z) by lia.
  pose proof (Z.mul_div_le reach (Z.max length radius) M) as D. apply IZR_le in D. rewrite mult_IZR in D.
  assert (Q : (0 <= reach / Z.max length radius)%Z) by (apply Z.div_pos; lia). apply IZR_le in Q.
  assert (L : norm coords v <= IZR (Z.max length radius)).
  { eapply Rle_trans; [exact N|]. apply IZR_le. lia. }
  eapply Rle_trans; [apply Rmult_le_compat_l; [auto|exact L]|]. lra.
Qed.

(** With this limit, a row times its residual is within the reach: the premise of [Plans.logistic_square_of_two]. *)
Theorem centred_row_within_reach {Column Entry} (columns : list Column) (entries : list Entry) image mean top rounded step
    allowed radius most limit e :
  0 < step -> 0 <= radius -> 0 <= most -> Rabs e <= limit ->
  Sum columns (square_of_code entries image mean) + top * top <= step * IZR rounded -> step * allowed <= radius * radius ->
  limit * limit * IZR rounded <= most * most * allowed ->
  norm (places_of_row columns entries) (fun z => e * centred image mean top z) <= most * radius.
Proof.
  intros S R0 M E Up Down H. assert (L : 0 <= limit) by (eapply Rle_trans; [apply Rabs_pos|exact E]).
  apply residual_of_two_classes with (A := limit); auto. apply limit_of_codes with rounded step allowed; auto.
Qed.
