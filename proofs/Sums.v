(** Finite sums of reals over lists, and the few facts about exp that all other files use. *)
From Coq Require Import Reals Lra List Psatz.
Import ListNotations.
Open Scope R_scope.

Fixpoint Sum {X : Type} (l : list X) (f : X -> R) : R :=
  match l with
  | [] => 0
  | x :: r => f x + Sum r f
  end.

Section Sums.
  Context {X : Type}.
  Implicit Types (l : list X) (f g : X -> R).

  Lemma Sum_ext l f g : (forall x, In x l -> f x = g x) -> Sum l f = Sum l g.
  Proof.
    induction l as [|x l IH]; simpl; intros H; auto.
    rewrite (H x (or_introl eq_refl)), IH; auto.
  Qed.

  Lemma Sum_le l f g : (forall x, In x l -> f x <= g x) -> Sum l f <= Sum l g.
  Proof.
    induction l as [|x l IH]; simpl; intros H; [lra|].
    pose proof (H x (or_introl eq_refl)). assert (Sum l f <= Sum l g) by auto. lra.
  Qed.

  Lemma Sum_zero l f : (forall x, In x l -> f x = 0) -> Sum l f = 0.
  Proof.
    induction l as [|x l IH]; simpl; intros H; auto.
    rewrite (H x (or_introl eq_refl)), IH; auto; lra.
  Qed.

  Lemma Sum_nonneg l f : (forall x, In x l -> 0 <= f x) -> 0 <= Sum l f.
  Proof.
    intros H. rewrite <- (Sum_zero l (fun _ => 0)) by auto. apply Sum_le; auto.
  Qed.

  Lemma Sum_pos l f : l <> [] -> (forall x, In x l -> 0 < f x) -> 0 < Sum l f.
  Proof.
    destruct l as [|x l]; simpl; intros N H; [congruence|].
    pose proof (H x (or_introl eq_refl)).
    assert (0 <= Sum l f) by (apply Sum_nonneg; intros; left; auto). lra.
  Qed.

  Lemma Sum_scal l f c : Sum l (fun x => c * f x) = c * Sum l f.
  Proof. induction l as [|x l IH]; simpl; [ring|rewrite IH; ring]. Qed.

  Lemma Sum_scal_r l f c : Sum l (fun x => f x * c) = Sum l f * c.
  Proof. induction l as [|x l IH]; simpl; [ring|rewrite IH; ring]. Qed.

  Lemma Sum_plus l f g : Sum l (fun x => f x + g x) = Sum l f + Sum l g.
  Proof. induction l as [|x l IH]; simpl; [ring|rewrite IH; ring]. Qed.

  Lemma Sum_minus l f g : Sum l (fun x => f x - g x) = Sum l f - Sum l g.
  Proof. induction l as [|x l IH]; simpl; [ring|rewrite IH; ring]. Qed.

  Lemma Sum_app l l' f : Sum (l ++ l') f = Sum l f + Sum l' f.
  Proof. induction l as [|x l IH]; simpl; [ring|rewrite IH; ring]. Qed.

  Lemma Sum_term l f x : (forall y, In y l -> 0 <= f y) -> In x l -> f x <= Sum l f.
  Proof.
    induction l as [|y l IH]; simpl; intros H I; [contradiction|].
    pose proof (H y (or_introl eq_refl)).
    assert (0 <= Sum l f) by (apply Sum_nonneg; auto).
    destruct I as [<-|I]; [lra|].
    assert (f x <= Sum l f) by auto. lra.
  Qed.
End Sums.

Lemma Sum_map {X Y} (h : X -> Y) l (f : Y -> R) : Sum (map h l) f = Sum l (fun x => f (h x)).
Proof. induction l as [|x l IH]; simpl; [ring|rewrite IH; ring]. Qed.

Lemma Sum_flat_map {X Y} (h : X -> list Y) l (f : Y -> R) :
  Sum (flat_map h l) f = Sum l (fun x => Sum (h x) f).
Proof. induction l as [|x l IH]; simpl; [ring|rewrite Sum_app, IH; ring]. Qed.

Lemma Sum_list_prod {X Y} (l : list X) (m : list Y) (f : X * Y -> R) :
  Sum (list_prod l m) f = Sum l (fun x => Sum m (fun y => f (x, y))).
Proof. induction l as [|x l IH]; simpl; [ring|rewrite Sum_app, Sum_map, IH; ring]. Qed.

Lemma Sum_swap {X Y} (l : list X) (m : list Y) (f : X -> Y -> R) :
  Sum l (fun x => Sum m (f x)) = Sum m (fun y => Sum l (fun x => f x y)).
Proof.
  induction l as [|x l IH]; simpl.
  - symmetry; apply Sum_zero; auto.
  - rewrite IH, <- Sum_plus. reflexivity.
Qed.

(** Positive parts. *)
Lemma pos_nonneg x : 0 <= Rmax 0 x.
Proof. apply Rmax_l. Qed.

Lemma pos_ge x : x <= Rmax 0 x.
Proof. apply Rmax_r. Qed.

Lemma pos_le x y : 0 <= y -> x <= y -> Rmax 0 x <= y.
Proof. intros; apply Rmax_lub; auto. Qed.

Lemma pos_mono x y : x <= y -> Rmax 0 x <= Rmax 0 y.
Proof. intros; apply pos_le; [apply pos_nonneg|]. pose proof (pos_ge y); lra. Qed.

Lemma pos_plus x y : Rmax 0 (x + y) <= Rmax 0 x + Rmax 0 y.
Proof.
  pose proof (pos_nonneg x); pose proof (pos_nonneg y); pose proof (pos_ge x); pose proof (pos_ge y).
  apply pos_le; lra.
Qed.

Lemma pos_scal c x : 0 <= c -> Rmax 0 (c * x) = c * Rmax 0 x.
Proof.
  intros. unfold Rmax. destruct (Rle_dec 0 (c * x)), (Rle_dec 0 x); try nra.
Qed.

(** exp. *)
Lemma exp_ge_1 x : 0 <= x -> 1 <= exp x.
Proof. intros H. pose proof (exp_ineq1_le x). lra. Qed.

Lemma exp_le x y : x <= y -> exp x <= exp y.
Proof. intros [H| ->]; [left; apply exp_increasing; auto|lra]. Qed.

Lemma exp_le_1 x : x <= 0 -> exp x <= 1.
Proof. intros. rewrite <- exp_0. apply exp_le; auto. Qed.

Lemma exp_neg x : exp (- x) * exp x = 1.
Proof. rewrite <- exp_plus, <- exp_0; f_equal; ring. Qed.

Lemma exp_pow x n : exp x ^ n = exp (INR n * x).
Proof.
  induction n as [|n IH]; [simpl; rewrite Rmult_0_l, exp_0; auto|].
  rewrite S_INR, <- tech_pow_Rmult, IH, <- exp_plus. f_equal; ring.
Qed.

(** exp lies above its tangents, hence the weighted mean inequality. *)
Lemma exp_tangent x y : exp y * (1 + (x - y)) <= exp x.
Proof.
  replace (exp x) with (exp y * exp (x - y)) by (rewrite <- exp_plus; f_equal; ring).
  apply Rmult_le_compat_l; [left; apply exp_pos|]. apply exp_ineq1_le.
Qed.

Lemma exp_convex a x y : 0 <= a <= 1 -> exp (a * x + (1 - a) * y) <= a * exp x + (1 - a) * exp y.
Proof.
  intros [A B]. set (m := a * x + (1 - a) * y).
  pose proof (exp_tangent x m) as U. pose proof (exp_tangent y m) as V.
  replace (exp m) with (a * (exp m * (1 + (x - m))) + (1 - a) * (exp m * (1 + (y - m)))) by (unfold m; ring).
  apply Rplus_le_compat; apply Rmult_le_compat_l; lra.
Qed.
