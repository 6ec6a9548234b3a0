(** Random trees (dpfast.learners.halfspaces.trees): drawn from what was released, by public chance alone, and then used to
    read the rows anew.  The rounds that follow may depend on them, and are as private given them as without. *)
From Coq Require Import Reals Lra List Psatz.
From Dpfast Require Import Sums Privacy Concentrated.
Import ListNotations.
Open Scope R_scope.

Lemma alike_private {X} (dom : list X) (P : X -> R) : private dom 0 0 P P.
Proof. unfold private, hockey. rewrite exp_0, Sum_zero; [lra|]. intros. rewrite Rmax_left; lra. Qed.

(** P and Q are the laws of what was released before, K draws the trees from it, and L, L' are the rounds that follow. *)
Theorem drawn_trees_cost_nothing {X Tree Y} (dom : list X) (trees : list Tree) (dom' : list Y) E d E' d' P Q
    (K : X -> Tree -> R) (L L' : X * Tree -> Y -> R) :
  law dom P -> law dom Q -> (forall x, law trees (K x)) -> (forall z, law dom' (L z)) -> (forall z, law dom' (L' z)) ->
  0 <= d' -> private dom E d P Q -> (forall x t, private dom' E' d' (L (x, t)) (L' (x, t))) ->
  private (list_prod (list_prod dom trees) dom') (E + E') (d + d') (joint (joint P K) L) (joint (joint Q K) L').
Proof.
  intros LP LQ LK LL LL' D H H'. apply adaptive_composition; auto.
  - apply joint_law; auto.
  - intros [x t]. unfold joint. simpl. destruct LQ as [Q0 _], (LK x) as [K0 _]. apply Rmult_le_pos; auto.
  - intros z y. apply LL'.
  - replace E with (E + 0) by ring. replace d with (d + 0) by ring. apply adaptive_composition; auto; try lra.
    + destruct LQ; auto.
    + intros x y. apply LK.
    + intros x _. apply alike_private.
  - intros [x t] _. apply H'.
Qed.

Lemma alike_zcdp {X} (dom : list X) (P : X -> R) : law dom P -> (forall x, 0 < P x) -> zcdp dom 0 P P.
Proof.
  intros [_ P1] P0 a A. unfold moment. rewrite Rmult_0_r, exp_0. rewrite (Sum_ext dom _ P); [lra|].
  intros x _. specialize (P0 x). replace (P x / P x) with 1 by (field; lra). rewrite ln_1, Rmult_0_r, exp_0. ring.
Qed.

(** The same for the bill of a fit. *)
Theorem drawn_trees_cost_no_rho {X Tree Y} (dom : list X) (trees : list Tree) (dom' : list Y) rho rho' P Q
    (K : X -> Tree -> R) (L L' : X * Tree -> Y -> R) :
  (forall x, 0 < P x) -> (forall x, 0 < Q x) -> (forall x t, 0 < K x t) -> (forall x, law trees (K x)) ->
  (forall z y, 0 < L z y) -> (forall z y, 0 < L' z y) ->
  zcdp dom rho P Q -> (forall x t, zcdp dom' rho' (L (x, t)) (L' (x, t))) ->
  zcdp (list_prod (list_prod dom trees) dom') (rho + rho') (joint (joint P K) L) (joint (joint Q K) L').
Proof.
  intros P0 Q0 K0 LK L0 L0' H H'. apply zcdp_composition; auto.
  - intros [x t]. unfold joint. simpl. apply Rmult_lt_0_compat; auto.
  - intros [x t]. unfold joint. simpl. apply Rmult_lt_0_compat; auto.
  - replace rho with (rho + 0) by ring. apply zcdp_composition; auto. intros x _. apply alike_zcdp; auto.
  - intros [x t] _. apply H'.
Qed.
