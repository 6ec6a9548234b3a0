(** How a number that the accountant returned is compared with its theorem; Calibrations.v holds the numbers. *)
From Coq Require Import Reals Lra List Psatz Lia ZArith.
From Interval Require Import Tactic.
From Dpfast Require Import Sums Privacy Cover.
Open Scope R_scope.

(** Delta of greedy cover, as [Cover] proves it; None is any number of rounds. *)
Definition curve (T : option nat) s x : R := match T with Some T => f s T x | None => f_any s x end.

Definition cover_delta_replace t g T E : R := curve T ((1 + g) * t) (E - (1 + g) * t).
Definition cover_delta_add_remove t g T E : R := Rmax (curve T t (E - g * t)) (curve T (g * t) (E - t)).

Lemma curve_zero s T x d : 0 <= s -> 0 <= x -> 0 <= d -> INR T * s <= x -> curve (Some T) s x <= d.
Proof. intros S X D H. pose proof (f_zero s T x S X H). simpl. lra. Qed.

Lemma curve_zero_range s x d T : s = 0 -> 0 <= x -> 0 <= d -> curve T s x <= d.
Proof.
  intros -> X D. destruct T as [T|]; [apply curve_zero; lra|]. simpl. unfold f_any.
  destruct (Rle_dec x (- 0)).
  - assert (x = 0) by lra. subst x. rewrite exp_0. lra.
  - rewrite Ropp_0, exp_0. lra.
Qed.

Definition part s x N : R := 1 - (exp ((x + s) / IZR N) - 1) / (exp s - 1).

Lemma curve_middle s T N x d : Z.of_nat (S T) = N -> 0 < s -> - s < x -> 0 < d -> 0 < part s x N ->
  IZR N * ln (part s x N) + ln (1 - exp (- s)) <= ln d -> curve (Some T) s x <= d.
Proof.
  intros HN S X D P H. simpl. unfold f. destruct (Rle_dec x (- s)); [lra|].
  destruct (Rle_dec (INR T * s) x); [lra|].
  assert (E : INR (Datatypes.S T) = IZR N) by (rewrite INR_IZR_INZ, HN; auto).
  rewrite E. fold (part s x N).
  assert (A : 0 < 1 - exp (- s)).
  { assert (exp (- s) < exp 0) by (apply exp_increasing; lra). rewrite exp_0 in *. lra. }
  rewrite <- (exp_ln (part s x N) P), exp_pow, E, <- (exp_ln (1 - exp (- s)) A), <- exp_plus, <- (exp_ln d D).
  apply exp_le. lra.
Qed.

Lemma curve_any s x d : 0 < s -> - s < x -> 0 < d ->
  - (x + s) / (exp s - 1) + ln (1 - exp (- s)) <= ln d -> curve None s x <= d.
Proof.
  intros S X D H. simpl. unfold f_any. destruct (Rle_dec x (- s)); [lra|].
  assert (A : 0 < 1 - exp (- s)).
  { assert (exp (- s) < exp 0) by (apply exp_increasing; lra). rewrite exp_0 in *. lra. }
  rewrite <- (exp_ln (1 - exp (- s)) A), <- exp_plus, <- (exp_ln d D). apply exp_le. lra.
Qed.

Lemma curve_low s x d T : x <= - s -> 1 - exp x <= d -> curve T s x <= d.
Proof. intros X H. destruct T; simpl; unfold f, f_any; destruct (Rle_dec x (- s)); lra. Qed.

(** From below, for the printed tables. *)
Lemma curve_middle_above s T N x d : Z.of_nat (S T) = N -> 0 < s -> - s < x -> x < INR T * s -> 0 < d ->
  0 < part s x N -> ln d < IZR N * ln (part s x N) + ln (1 - exp (- s)) -> d < curve (Some T) s x.
Proof.
  intros HN S X X' D P H. simpl. unfold f. destruct (Rle_dec x (- s)); [lra|].
  destruct (Rle_dec (INR T * s) x); [lra|].
  assert (E : INR (Datatypes.S T) = IZR N) by (rewrite INR_IZR_INZ, HN; auto).
  rewrite E. fold (part s x N).
  assert (A : 0 < 1 - exp (- s)).
  { assert (exp (- s) < exp 0) by (apply exp_increasing; lra). rewrite exp_0 in *. lra. }
  rewrite <- (exp_ln (part s x N) P), exp_pow, E, <- (exp_ln (1 - exp (- s)) A), <- exp_plus, <- (exp_ln d D).
  apply exp_increasing. lra.
Qed.

Lemma curve_any_above s x d : 0 < s -> - s < x -> 0 < d ->
  ln d < - (x + s) / (exp s - 1) + ln (1 - exp (- s)) -> d < curve None s x.
Proof.
  intros S X D H. simpl. unfold f_any. destruct (Rle_dec x (- s)); [lra|].
  assert (A : 0 < 1 - exp (- s)).
  { assert (exp (- s) < exp 0) by (apply exp_increasing; lra). rewrite exp_0 in *. lra. }
  rewrite <- (exp_ln (1 - exp (- s)) A), <- exp_plus, <- (exp_ln d D). apply exp_increasing. lra.
Qed.

Lemma add_remove_le t g T E d :
  curve T t (E - g * t) <= d -> curve T (g * t) (E - t) <= d -> cover_delta_add_remove t g T E <= d.
Proof. intros. apply Rmax_lub; auto. Qed.

Lemma add_remove_above_first t g T E d : d < curve T t (E - g * t) -> d < cover_delta_add_remove t g T E.
Proof. intros. eapply Rlt_le_trans; [|apply Rmax_l]. auto. Qed.

Lemma add_remove_above_second t g T E d : d < curve T (g * t) (E - t) -> d < cover_delta_add_remove t g T E.
Proof. intros. eapply Rlt_le_trans; [|apply Rmax_r]. auto. Qed.

(** Concentrated privacy: rho is (E, d) by some order 1 + b ([Concentrated.zcdp_conversion]). *)
Definition zcdp_fits rho E d : Prop :=
  exists b, 0 < b /\ b * ((1 + b) * rho - E) - b * ln (1 + 1 / b) - ln (1 + b) <= ln d.

(** One draw of SparseSample ([SparseSample.sparse_sample_private]). *)
Definition sparse_sample_fits e B L d : Prop := L * exp (- (e * B)) * (1 + exp e) <= d.

(** Choosing among runs of one pure claim ([Selection.selection_pure]). *)
Definition selection_fits e m E : Prop := e + 2 * ln ((m * exp e + 1) / (m + exp e)) <= E.

Ltac number := unfold part; interval with (i_prec 120).
Ltac middle N := apply (curve_middle _ _ N); [reflexivity|lra|lra|lra|number|number].
Ltac middle_above N := apply (curve_middle_above _ _ N); [reflexivity|lra|lra|rewrite INR_IZR_INZ; simpl; lra|lra|number|number].
Ltac any := apply curve_any; [lra|lra|lra|number].
Ltac any_above := apply curve_any_above; [lra|lra|lra|number].
Ltac low := apply curve_low; [lra|number].
Ltac zero := apply curve_zero; [lra|lra|lra|rewrite INR_IZR_INZ; simpl; lra].
Ltac zero_range := apply curve_zero_range; lra.
Ltac order b := exists b; split; [lra|number].
