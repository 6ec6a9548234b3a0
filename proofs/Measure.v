(** The measure of a smooth booster on integers (dpfast.learners.halfspaces.measure, csrc/measure.h): weights of any mass, to
    the unit, that move one way where one row changes. *)
From Coq Require Import Reals Lra List Psatz Lia ZArith.
From Dpfast Require Import Sums Privacy Sensitivity Plans.
Import ListNotations.
Open Scope Z_scope.

Section Measure.
  (** Units by score minus threshold: they fall from the cap to 0. *)
  Context (table : Z -> Z) (cap : Z).
  Hypothesis table_falls : forall a b, a <= b -> table b <= table a.
  Hypothesis table_bounds : forall a, 0 <= table a <= cap.

  (** A measure between threshold t and t + 1: rows before the split have the weights of t + 1, the row at the split has [part]
      units more than its weight of t, and later rows have the weights of t. *)
  Definition measure : Type := (Z * nat * Z)%type.
  Definition threshold (m : measure) : Z := fst (fst m).
  Definition split_of (m : measure) : nat := snd (fst m).
  Definition part (m : measure) : Z := snd m.

  (** The weight of row number i with this score. *)
  Definition weight (m : measure) (i : nat) (score : Z) : Z :=
    if (i <? split_of m)%nat then table (score - (threshold m + 1))
    else if (i =? split_of m)%nat then table (score - threshold m) + part m
    else table (score - threshold m).

  (** What [dpf_measure_split] returns: the part is no more than the step of the row at the split. *)
  Definition fits (m : measure) (i : nat) (score : Z) : Prop :=
    i = split_of m -> 0 <= part m <= table (score - (threshold m + 1)) - table (score - threshold m).

  Lemma weight_between m i score : fits m i score ->
    table (score - threshold m) <= weight m i score <= table (score - (threshold m + 1)).
  Proof.
    intros F. unfold weight. pose proof (table_falls (score - (threshold m + 1)) (score - threshold m) ltac:(lia)).
    destruct (Nat.ltb_spec i (split_of m)); [lia|]. destruct (Nat.eqb_spec i (split_of m)) as [E|E]; [|lia].
    specialize (F E). lia.
  Qed.

  Lemma weight_bounds m i score : fits m i score -> 0 <= weight m i score <= cap.
  Proof.
    intros F. pose proof (weight_between m i score F). pose proof (table_bounds (score - threshold m)).
    pose proof (table_bounds (score - (threshold m + 1))). lia.
  Qed.

  (** Measures are in an order. *)
  Definition before (m n : measure) : Prop :=
    threshold m < threshold n \/
    (threshold m = threshold n /\ ((split_of m < split_of n)%nat \/ (split_of m = split_of n /\ part m <= part n))).

  Lemma before_or_after m n : before m n \/ before n m.
  Proof. unfold before. lia. Qed.

  (** Along the order every weight rises. *)
  Theorem weight_rises m n i score : before m n -> fits m i score -> fits n i score -> weight m i score <= weight n i score.
  Proof.
    intros B F G. pose proof (weight_between m i score F) as W. pose proof (weight_between n i score G) as V.
    destruct B as [T|[T B]].
    - pose proof (table_falls (score - threshold n) (score - (threshold m + 1)) ltac:(lia)). lia.
    - unfold weight. rewrite <- T in *. pose proof (table_falls (score - (threshold m + 1)) (score - threshold m) ltac:(lia)).
      unfold fits in *. rewrite <- T in *.
      destruct (Nat.ltb_spec i (split_of m)), (Nat.ltb_spec i (split_of n)), (Nat.eqb_spec i (split_of m)), (Nat.eqb_spec i (split_of n));
        lia.
  Qed.

  (** Two tables with these other rows, by number and score, whatever the row that differs is: all other weights move one way. *)
  Theorem others_move_one_way m n (others : list (nat * Z)) :
    (forall r, In r others -> fits m (fst r) (snd r) /\ fits n (fst r) (snd r)) ->
    (forall r, In r others -> weight m (fst r) (snd r) <= weight n (fst r) (snd r)) \/
    (forall r, In r others -> weight n (fst r) (snd r) <= weight m (fst r) (snd r)).
  Proof.
    intros F. destruct (before_or_after m n) as [B|B]; [left|right]; intros r I; destruct (F r I);
      apply weight_rises; auto.
  Qed.

  (** So a sum of weighted rows moves by no more than the plan says, if both measures have one mass.  The row that differs
      has the number i, the scores s and s', and the images z and z'; where it is added, z' is anything and its weight 0. *)
  Theorem measure_moves {J} (coords : list J) (image : nat * Z -> J -> R) (z z' : J -> R) reach m n others a a' :
    (0 < reach)%R -> (forall r, norm coords (image r) <= reach)%R -> (norm coords z <= reach)%R -> (norm coords z' <= reach)%R ->
    (forall r, In r others -> fits m (fst r) (snd r) /\ fits n (fst r) (snd r)) -> 0 <= a <= cap -> 0 <= a' <= cap ->
    (Sum others (fun r => IZR (weight m (fst r) (snd r))) + IZR a = Sum others (fun r => IZR (weight n (fst r) (snd r))) + IZR a')%R ->
    (norm coords (fun j => (Sum others (fun r => IZR (weight m (fst r) (snd r)) * image r j) + IZR a * z j)
      - (Sum others (fun r => IZR (weight n (fst r) (snd r)) * image r j) + IZR a' * z' j)) <= boosting_moves (IZR cap) reach)%R.
  Proof.
    intros R0 I Z Z' F A A' Mass.
    apply (boosting_moves_of_weights coords others image (fun r => IZR (weight m (fst r) (snd r)))
      (fun r => IZR (weight n (fst r) (snd r)))); auto.
    - split; [apply (IZR_le 0)|apply IZR_le]; lia.
    - split; [apply (IZR_le 0)|apply IZR_le]; lia.
    - destruct (others_move_one_way m n others F) as [H|H]; [left|right]; intros r K; apply IZR_le; auto.
  Qed.
End Measure.

(** Of two tables the first has at least the mass of the second, and no other row more weight: where both measures have one
    mass, and, for a measure of at least a mass, also where the weights of one table are enough without being raised. *)
Theorem measure_of_at_least_moves {Row J} (coords : list J) (others : list Row) (x : Row -> J -> R) (mu mu' : Row -> R)
    (z z' : J -> R) a a' cap reach :
  (0 <= reach -> (forall i, norm coords (x i) <= reach) -> norm coords z <= reach -> norm coords z' <= reach ->
   0 <= a <= cap -> 0 <= a' <= cap -> (forall i, In i others -> mu i <= mu' i) ->
   Sum others mu' + a' <= Sum others mu + a ->
   norm coords (fun j => (Sum others (fun i => mu i * x i j) + a * z j) - (Sum others (fun i => mu' i * x i j) + a' * z' j))
   <= boosting_moves cap reach)%R.
Proof.
  intros R0 X Z Z' [A A1] [A' A1'] One Mass. unfold boosting_moves.
  rewrite (norm_ext coords _ (fun j => Sum others (fun i => (mu i - mu' i) * x i j) + (a * z j + (- a') * z' j))%R).
  2:{ intros j. rewrite (Sum_ext _ (fun i => (mu i - mu' i) * x i j) (fun i => mu i * x i j - mu' i * x i j))%R by (intros; ring).
      rewrite Sum_minus. ring. }
  eapply Rle_trans; [apply norm_triangle|].
  assert (O : (norm coords (fun j => Sum others (fun i => (mu i - mu' i) * x i j)) <= (Sum others mu' - Sum others mu) * reach)%R).
  { eapply Rle_trans; [apply (norm_sum coords others (fun i j => (mu i - mu' i) * x i j)%R)|].
    rewrite <- Sum_minus, <- Sum_scal_r. apply Sum_le. intros i I. rewrite norm_scal. specialize (One i I).
    rewrite Rabs_left1 by lra. replace (- (mu i - mu' i))%R with (mu' i - mu i)%R by ring.
    apply Rmult_le_compat_l; [lra|auto]. }
  pose proof (norm_triangle coords (fun j => a * z j)%R (fun j => - a' * z' j)%R) as T.
  rewrite !norm_scal, Rabs_Ropp, (Rabs_right a), (Rabs_right a') in T by lra.
  assert (P : (a * norm coords z <= a * reach)%R) by (apply Rmult_le_compat_l; lra).
  assert (Q : (a' * norm coords z' <= a' * reach)%R) by (apply Rmult_le_compat_l; lra).
  assert (B : ((Sum others mu' - Sum others mu) * reach <= (a - a') * reach)%R) by (apply Rmult_le_compat_r; lra).
  assert (C : (a * reach <= cap * reach)%R) by (apply Rmult_le_compat_r; lra). lra.
Qed.

(** The local measure: the weight of a row follows from the row, so a row that is added moves a sum by its own term. *)
Theorem local_measure_moves {Row J} (coords : list J) (image : Row -> J -> R) (units : Row -> Z) cap reach replaced a b :
  (0 <= reach)%R -> 0 <= cap -> (forall x, 0 <= units x <= cap) -> (forall x, (norm coords (image x) <= reach)%R) ->
  near replaced a b ->
  (norm coords (fun j => total (fun x j => IZR (units x) * image x j) a j - total (fun x j => IZR (units x) * image x j) b j)
   <= changed replaced * (IZR cap * reach))%R.
Proof.
  intros R0 C0 U I N. apply IZR_le in C0. apply sum_moves; auto; [apply Rmult_le_pos; auto|].
  intros x. destruct (U x) as [L H]. apply IZR_le in L. apply IZR_le in H. rewrite norm_scal, Rabs_right by lra.
  apply Rmult_le_compat; auto. apply norm_nonneg.
Qed.
