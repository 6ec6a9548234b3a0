(** Laws on finite sets of outcomes, and what (epsilon, delta)-privacy means for them.

    A law is a function [P : X -> R]; [dom : list X] names the outcomes.  Nothing here needs the outcomes of [dom] to be
    distinct: an outcome that stands twice is two outcomes of one name. *)
From Coq Require Import Reals Lra List Psatz.
From Dpfast Require Import Sums.
Import ListNotations.
Open Scope R_scope.

Definition law {X} (dom : list X) (P : X -> R) : Prop := (forall x, 0 <= P x) /\ Sum dom P = 1.

(** The hockey-stick divergence of P over Q at epsilon = E. *)
Definition hockey {X} (dom : list X) (E : R) (P Q : X -> R) : R :=
  Sum dom (fun x => Rmax 0 (P x - exp E * Q x)).

(** P against Q, one direction; a relation of neighbours that is symmetric gives both. *)
Definition private {X} (dom : list X) (E d : R) (P Q : X -> R) : Prop := hockey dom E P Q <= d.

(** A mechanism M on tables of type D, for a relation of neighbours. *)
Definition dp {D X} (near : D -> D -> Prop) (dom : list X) (E d : R) (M : D -> X -> R) : Prop :=
  forall a b, near a b -> private dom E d (M a) (M b).

(** The two relations. *)
Inductive replace {Row} : list Row -> list Row -> Prop :=
| one_replaced l x y r : replace (l ++ x :: r) (l ++ y :: r).

Inductive add_remove {Row} : list Row -> list Row -> Prop :=
| one_added l x r : add_remove (l ++ r) (l ++ x :: r)
| one_removed l x r : add_remove (l ++ x :: r) (l ++ r).

Lemma replace_symmetric {Row} (a b : list Row) : replace a b -> replace b a.
Proof. intros []; constructor. Qed.

Lemma add_remove_symmetric {Row} (a b : list Row) : add_remove a b -> add_remove b a.
Proof. intros []; constructor. Qed.

Lemma replace_is_remove_and_add {Row} (a b : list Row) :
  replace a b -> exists c, add_remove a c /\ add_remove c b.
Proof. intros [l x y r]. exists (l ++ r). split; constructor. Qed.

(** ** The definition by events *)

Theorem private_events {X} (dom : list X) E d (P Q : X -> R) :
  private dom E d P Q <->
  forall S : X -> bool,
    Sum dom (fun x => if S x then P x else 0) <= exp E * Sum dom (fun x => if S x then Q x else 0) + d.
Proof.
  unfold private, hockey. split.
  - intros H S. rewrite <- Sum_scal.
    apply Rle_trans with (Sum dom (fun x => exp E * (if S x then Q x else 0) + Rmax 0 (P x - exp E * Q x))).
    + apply Sum_le. intros x _. pose proof (pos_ge (P x - exp E * Q x)). pose proof (pos_nonneg (P x - exp E * Q x)).
      destruct (S x); lra.
    + rewrite Sum_plus. lra.
  - intros H. specialize (H (fun x => if Rle_dec 0 (P x - exp E * Q x) then true else false)).
    rewrite <- Sum_scal in H.
    assert (Sum dom (fun x => Rmax 0 (P x - exp E * Q x)) =
            Sum dom (fun x => if (if Rle_dec 0 (P x - exp E * Q x) then true else false) then P x else 0)
            - Sum dom (fun x => exp E * (if (if Rle_dec 0 (P x - exp E * Q x) then true else false) then Q x else 0)))
      as ->; [|lra].
    rewrite <- Sum_minus. apply Sum_ext. intros x _. unfold Rmax. destruct (Rle_dec 0 (P x - exp E * Q x)); lra.
Qed.

Lemma hockey_nonneg {X} (dom : list X) E P Q : 0 <= hockey dom E P Q.
Proof. apply Sum_nonneg. intros; apply pos_nonneg. Qed.

(** Pure privacy is a bound on every ratio. *)
Theorem private_pure {X} (dom : list X) E (P Q : X -> R) :
  (forall x, In x dom -> P x <= exp E * Q x) <-> private dom E 0 P Q.
Proof.
  unfold private, hockey. split; intros H.
  - rewrite Sum_zero; [lra|]. intros x I. specialize (H x I). apply Rmax_left. lra.
  - intros x I. pose proof (pos_ge (P x - exp E * Q x)).
    assert (Rmax 0 (P x - exp E * Q x) <= 0).
    { eapply Rle_trans; [|apply H]. apply (Sum_term dom (fun x => Rmax 0 (P x - exp E * Q x))); auto.
      intros; apply pos_nonneg. }
    lra.
Qed.

Theorem private_weaken {X} (dom : list X) E d E' d' (P Q : X -> R) :
  (forall x, 0 <= Q x) -> E <= E' -> d <= d' -> private dom E d P Q -> private dom E' d' P Q.
Proof.
  unfold private, hockey. intros HQ HE Hd H.
  apply Rle_trans with (2 := Hd). apply Rle_trans with (2 := H).
  apply Sum_le. intros x _. apply pos_mono. pose proof (exp_le E E' HE). specialize (HQ x). nra.
Qed.

(** ** Post-processing: a kernel K that looks at the outcome alone *)

Definition push {X Y} (dom : list X) (P : X -> R) (K : X -> Y -> R) (y : Y) : R := Sum dom (fun x => P x * K x y).

Theorem post_processing {X Y} (dom : list X) (dom' : list Y) E d P Q (K : X -> Y -> R) :
  (forall x, law dom' (K x)) -> private dom E d P Q -> private dom' E d (push dom P K) (push dom Q K).
Proof.
  unfold private, hockey, push. intros HK H.
  apply Rle_trans with (2 := H).
  apply Rle_trans with (Sum dom' (fun y => Sum dom (fun x => Rmax 0 (P x - exp E * Q x) * K x y))).
  - apply Sum_le. intros y _. apply pos_le.
    + apply Sum_nonneg. intros x _. apply Rmult_le_pos; [apply pos_nonneg|apply HK].
    + rewrite <- Sum_scal, <- Sum_minus. apply Sum_le. intros x _.
      pose proof (pos_ge (P x - exp E * Q x)). destruct (HK x) as [N _]. specialize (N y). nra.
  - rewrite <- Sum_swap. apply Sum_le. intros x _. rewrite Sum_scal. destruct (HK x) as [_ ->]. lra.
Qed.

(** ** Adaptive composition: the second mechanism may look at the first outcome *)

Definition joint {X Y} (P : X -> R) (K : X -> Y -> R) (z : X * Y) : R := P (fst z) * K (fst z) (snd z).

Theorem adaptive_composition {X Y} (dom : list X) (dom' : list Y) E d E' d' P Q (K L : X -> Y -> R) :
  law dom P -> (forall x, 0 <= Q x) -> (forall x, In x dom -> law dom' (K x)) -> (forall x y, 0 <= L x y) -> 0 <= d' ->
  private dom E d P Q -> (forall x, In x dom -> private dom' E' d' (K x) (L x)) ->
  private (list_prod dom dom') (E + E') (d + d') (joint P K) (joint Q L).
Proof.
  unfold private, hockey. intros [HP0 HP1] HQ HK HL Hd' H H'.
  rewrite Sum_list_prod. unfold joint; simpl.
  apply Rle_trans with
    (Sum dom (fun x => Rmax 0 (P x - exp E * Q x) + P x * d')).
  2:{ rewrite Sum_plus, Sum_scal_r, HP1. lra. }
  apply Sum_le. intros x I.
  set (m := Rmin (P x) (exp E * Q x)).
  assert (M0 : 0 <= m).
  { apply Rmin_glb; [auto|]. apply Rmult_le_pos; [left; apply exp_pos|auto]. }
  assert (MP : m <= P x) by apply Rmin_l.
  assert (MQ : m <= exp E * Q x) by apply Rmin_r.
  assert (ME : P x - m = Rmax 0 (P x - exp E * Q x)).
  { unfold m, Rmin, Rmax. destruct (Rle_dec (P x) (exp E * Q x)), (Rle_dec 0 (P x - exp E * Q x)); lra. }
  apply Rle_trans with
    (Sum dom' (fun y => Rmax 0 (P x - exp E * Q x) * K x y + m * Rmax 0 (K x y - exp E' * L x y))).
  - apply Sum_le. intros y _. rewrite <- ME, <- pos_scal by auto.
    pose proof (HL x y). destruct (HK x I) as [N _]. specialize (N y).
    pose proof (pos_ge (m * (K x y - exp E' * L x y))). pose proof (pos_nonneg (m * (K x y - exp E' * L x y))).
    apply pos_le; [nra|]. rewrite exp_plus.
    assert (m * (exp E' * L x y) <= exp E * Q x * (exp E' * L x y)).
    { apply Rmult_le_compat_r; [|auto]. apply Rmult_le_pos; [left; apply exp_pos|auto]. }
    nra.
  - rewrite Sum_plus, !Sum_scal. destruct (HK x I) as [_ ->]. specialize (H' x I). nra.
Qed.

Lemma joint_law {X Y} (dom : list X) (dom' : list Y) P (K : X -> Y -> R) :
  law dom P -> (forall x, law dom' (K x)) -> law (list_prod dom dom') (joint P K).
Proof.
  intros [P0 P1] HK. split.
  - intros [x y]. apply Rmult_le_pos; simpl; [auto|apply HK].
  - rewrite Sum_list_prod. unfold joint; simpl. rewrite <- P1. apply Sum_ext. intros x _.
    rewrite Sum_scal. destruct (HK x) as [_ ->]. ring.
Qed.

(** Any number of rounds, each of which sees all outcomes so far (latest first). *)
Section Rounds.
  Context {X : Type} (dom : list X).

  Fixpoint runs (T : nat) (h : list X) : list (list X) :=
    match T with
    | O => [[]]
    | S T => flat_map (fun x => map (cons x) (runs T (x :: h))) dom
    end.

  Fixpoint run_law (M : list X -> X -> R) (h w : list X) : R :=
    match w with
    | [] => 1
    | x :: w => M h x * run_law M (x :: h) w
    end.

  Variables M N : list X -> X -> R.
  Hypothesis M_law : forall h, law dom (M h).
  Hypothesis N_nonneg : forall h x, 0 <= N h x.

  Lemma run_law_nonneg (K : list X -> X -> R) : (forall h x, 0 <= K h x) -> forall w h, 0 <= run_law K h w.
  Proof.
    intros HK w; induction w as [|x w IH]; simpl; intros h; [lra|]. apply Rmult_le_pos; auto.
  Qed.

  Lemma run_law_sum T : forall h, Sum (runs T h) (run_law M h) = 1.
  Proof.
    induction T as [|T IH]; simpl; intros h; [lra|].
    rewrite Sum_flat_map. destruct (M_law h) as [_ H1]. rewrite <- H1. apply Sum_ext. intros x _.
    rewrite Sum_map; simpl. rewrite Sum_scal, IH. ring.
  Qed.

  Theorem rounds_composition E d :
    0 <= d -> (forall h, private dom E d (M h) (N h)) ->
    forall T h, private (runs T h) (INR T * E) (INR T * d) (run_law M h) (run_law N h).
  Proof.
    intros Hd H T. induction T as [|T IH]; intros h.
    - unfold private, hockey. simpl. rewrite Rmult_0_l, exp_0. rewrite Rmax_left; lra.
    - assert (C := adaptive_composition dom (runs T h) E d (INR T * E) (INR T * d) (M h) (N h)
        (fun x w => run_law M (x :: h) w) (fun x w => run_law N (x :: h) w)).
      unfold private, hockey in *. simpl runs. rewrite Sum_flat_map.
      (* The same computation as in [adaptive_composition]; the set of later runs is the same for every x. *)
      rewrite S_INR.
      replace ((INR T + 1) * E) with (E + INR T * E) by ring.
      replace ((INR T + 1) * d) with (d + INR T * d) by ring.
      assert (Same : forall T h h', runs T h = runs T h').
      { clear. induction T as [|T IH]; simpl; auto. intros h h'.
        induction dom as [|x l IHl]; simpl; auto. rewrite (IH (x :: h) (x :: h')), IHl; auto. }
      eapply Rle_trans; [|apply C]; clear C.
      + rewrite Sum_list_prod. apply Req_le, Sum_ext. intros x _. rewrite Sum_map.
        rewrite (Same T (x :: h) h). reflexivity.
      + apply M_law.
      + auto.
      + intros x _. split; [intros; apply run_law_nonneg; intros; apply M_law|].
        rewrite (Same T h (x :: h)). apply run_law_sum.
      + intros; apply run_law_nonneg; auto.
      + apply Rmult_le_pos; [apply pos_INR|auto].
      + apply H.
      + intros x _. rewrite (Same T h (x :: h)). apply IH.
  Qed.
End Rounds.

(** ** Group privacy *)

Theorem private_triangle {X} (dom : list X) E d E' d' (P Q S : X -> R) :
  private dom E d P Q -> private dom E' d' Q S -> private dom (E + E') (d + exp E * d') P S.
Proof.
  unfold private, hockey. intros H H'.
  apply Rle_trans with
    (Sum dom (fun x => Rmax 0 (P x - exp E * Q x) + exp E * Rmax 0 (Q x - exp E' * S x))).
  - apply Sum_le. intros x _. rewrite <- pos_scal by (left; apply exp_pos).
    eapply Rle_trans; [|apply pos_plus]. apply pos_mono. rewrite exp_plus. lra.
  - rewrite Sum_plus, Sum_scal. pose proof (exp_pos E). nra.
Qed.

(** k steps between neighbours: (k E, (1 + e^E + ... + e^((k-1) E)) d). *)
Fixpoint steps {D} (near : D -> D -> Prop) (k : nat) (a b : D) : Prop :=
  match k with
  | O => a = b
  | S k => exists c, near a c /\ steps near k c b
  end.

Fixpoint group_delta (E d : R) (k : nat) : R :=
  match k with
  | O => 0
  | S k => d + exp E * group_delta E d k
  end.

Theorem group_privacy {D X} (near : D -> D -> Prop) (dom : list X) E d M :
  dp near dom E d M -> forall k, dp (steps near k) dom (INR k * E) (group_delta E d k) M.
Proof.
  intros H k. induction k as [|k IH]; intros a b S.
  - simpl in S. subst b. unfold private, hockey. simpl. rewrite Rmult_0_l, exp_0, Sum_zero; [lra|].
    intros. rewrite Rmax_left; lra.
  - destruct S as [c [N S]]. rewrite S_INR. replace ((INR k + 1) * E) with (E + INR k * E) by ring.
    simpl. apply private_triangle with (Q := M c); [apply H|apply IH]; auto.
Qed.

Corollary replace_from_add_remove {Row X} (dom : list X) E d (M : list Row -> X -> R) :
  dp add_remove dom E d M -> dp replace dom (2 * E) (d + exp E * d) M.
Proof.
  intros H a b R. destruct (replace_is_remove_and_add _ _ R) as [c [A B]].
  replace (2 * E) with (E + E) by ring. apply private_triangle with (Q := M c); auto.
Qed.

(** ** A mixture with public weights, and a random split of the rows *)

Theorem private_mixture {X S} (splits : list S) (weight : S -> R) (dom : list X) E d (P Q : S -> X -> R) :
  (forall s, 0 <= weight s) -> Sum splits weight = 1 ->
  (forall s, In s splits -> private dom E d (P s) (Q s)) ->
  private dom E d (fun x => Sum splits (fun s => weight s * P s x)) (fun x => Sum splits (fun s => weight s * Q s x)).
Proof.
  unfold private, hockey. intros W W1 H.
  apply Rle_trans with (Sum dom (fun x => Sum splits (fun s => weight s * Rmax 0 (P s x - exp E * Q s x)))).
  - apply Sum_le. intros x _. apply pos_le.
    + apply Sum_nonneg. intros; apply Rmult_le_pos; [auto|apply pos_nonneg].
    + rewrite <- Sum_scal, <- Sum_minus. apply Sum_le. intros s _. pose proof (pos_ge (P s x - exp E * Q s x)).
      specialize (W s). nra.
  - rewrite <- Sum_swap. rewrite <- (Rmult_1_l d), <- W1, <- Sum_scal_r.
    apply Sum_le. intros s I. rewrite Sum_scal. apply Rmult_le_compat_l; auto.
Qed.

(** Rows go to one of two parts by coins that do not look at them; A sees the first part, B the second and A's outcome.
    Of any one split the differing row is in one part, so that one of the two mechanisms has the same law on both
    tables. The pair is as private as the worse of the two, whether or not the split is published with it. *)
Theorem parallel_composition {X Y S} (splits : list S) (weight : S -> R) (domA : list X) (domB : list Y) E d
    (A A' : S -> X -> R) (B B' : S -> X -> Y -> R) :
  (forall s, 0 <= weight s) -> Sum splits weight = 1 -> 0 <= d -> 0 <= E ->
  (forall s, law domA (A s)) -> (forall s, law domA (A' s)) ->
  (forall s x, law domB (B s x)) -> (forall s x, law domB (B' s x)) ->
  (forall s, In s splits ->
     (private domA E d (A s) (A' s) /\ forall x y, B s x y = B' s x y) \/
     ((forall x, A s x = A' s x) /\ forall x, private domB E d (B s x) (B' s x))) ->
  private (list_prod domA domB) E d
    (fun z => Sum splits (fun s => weight s * joint (A s) (B s) z))
    (fun z => Sum splits (fun s => weight s * joint (A' s) (B' s) z)).
Proof.
  intros W W1 Hd HE LA LA' LB LB' H. apply private_mixture; auto. intros s I.
  assert (Z : forall V (dom : list V) (p q : V -> R), (forall v, p v = q v) -> private dom 0 0 p q).
  { intros V dom p q Hpq. unfold private, hockey. rewrite exp_0, Sum_zero; [lra|].
    intros. rewrite Hpq, Rmax_left; lra. }
  destruct (H s I) as [[HA HB]|[HA HB]].
  - replace E with (E + 0) by ring. replace d with (d + 0) by ring.
    apply adaptive_composition; auto; try (intros; apply LA' || apply LB'); lra.
  - replace E with (0 + E) by ring. replace d with (0 + d) by ring.
    apply adaptive_composition; auto; try (intros; apply LA' || apply LB').
Qed.
