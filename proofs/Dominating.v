(** Curves as pairs of laws (dpfast.accounting.curves.dominating).

    A bound on the hockey-stick divergences of a mechanism at all a = e^E becomes two laws, from the changes of its slope.
    Such pairs compose: a mechanism whose divergences lie below those of a pair may be replaced by it beside others, also
    where the next mechanism is chosen by the outcomes so far, as long as its pair was fixed before (Zhu, Dong, Wang,
    2022). *)
From Coq Require Import Reals Lra List Psatz.
From Dpfast Require Import Sums Privacy.
Import ListNotations.
Open Scope R_scope.

(** The divergence of P over Q at a = e^E. *)
Definition profile {X} (dom : list X) (P Q : X -> R) (a : R) : R := Sum dom (fun x => Rmax 0 (P x - a * Q x)).

Lemma profile_is_hockey {X} (dom : list X) (P Q : X -> R) E : profile dom P Q (exp E) = hockey dom E P Q.
Proof. reflexivity. Qed.

Lemma profile_0 {X} (dom : list X) (P Q : X -> R) : law dom P -> profile dom P Q 0 = 1.
Proof.
  intros [P0 P1]. unfold profile. rewrite <- P1. apply Sum_ext. intros x _. rewrite Rmult_0_l, Rminus_0_r.
  apply Rmax_right. auto.
Qed.

(** What the hypotheses of [curve_is_a_pair] say of a bound holds of every profile. *)
Theorem profile_convex {X} (dom : list X) (P Q : X -> R) a b t : 0 <= t <= 1 ->
  profile dom P Q (t * a + (1 - t) * b) <= t * profile dom P Q a + (1 - t) * profile dom P Q b.
Proof.
  intros T. unfold profile. rewrite <- !Sum_scal, <- Sum_plus. apply Sum_le. intros x _.
  pose proof (pos_nonneg (P x - a * Q x)). pose proof (pos_ge (P x - a * Q x)).
  pose proof (pos_nonneg (P x - b * Q x)). pose proof (pos_ge (P x - b * Q x)). apply pos_le; nra.
Qed.

Theorem profile_falls {X} (dom : list X) (P Q : X -> R) a b : (forall x, 0 <= Q x) -> a <= b ->
  profile dom P Q b <= profile dom P Q a.
Proof. intros Q0 L. apply Sum_le. intros x _. apply pos_mono. specialize (Q0 x). nra. Qed.

Theorem profile_least {X} (dom : list X) (P Q : X -> R) a : law dom P -> law dom Q -> 0 <= a ->
  Rmax 0 (1 - a) <= profile dom P Q a.
Proof.
  intros [P0 P1] [Q0 Q1] A. apply pos_le; [apply Sum_nonneg; intros; apply pos_nonneg|].
  apply Rle_trans with (Sum dom (fun x => P x - a * Q x)).
  - rewrite Sum_minus, Sum_scal, P1, Q1. lra.
  - apply Sum_le. intros. apply pos_ge.
Qed.

(** Both orders of two tables: a bound at a >= 1 for each is a bound at all a for one. *)
Theorem mirror {X} (dom : list X) (P Q : X -> R) a : law dom P -> law dom Q -> 0 < a ->
  profile dom P Q a = 1 - a + a * profile dom Q P (/ a).
Proof.
  intros [P0 P1] [Q0 Q1] A. unfold profile. rewrite <- Sum_scal.
  replace (1 - a) with (Sum dom P - a * Sum dom Q) by (rewrite P1, Q1; ring).
  rewrite <- Sum_scal, <- Sum_minus, <- Sum_plus. apply Sum_ext. intros x _. rewrite <- pos_scal by lra.
  replace (a * (Q x - / a * P x)) with (- (P x - a * Q x)) by (field; lra).
  unfold Rmax. destruct (Rle_dec 0 (P x - a * Q x)), (Rle_dec 0 (- (P x - a * Q x))); lra.
Qed.

(** * Two laws from places and changes of slope *)

(** A log-ratio, by its exponential a and the probability q under the second law; what one of the laws never shows. *)
Inductive outcome := Ratio (c : R * R) | Only_first | Only_second.

Definition outcomes (changes : list (R * R)) : list outcome := Only_first :: Only_second :: map Ratio changes.

Definition first_law (rest : R) (x : outcome) : R :=
  match x with Ratio c => Rmax 0 (fst c) * Rmax 0 (snd c) | Only_first => rest | Only_second => 0 end.

Definition second_law (changes : list (R * R)) (x : outcome) : R :=
  match x with Ratio c => Rmax 0 (snd c) | Only_first => 0 | Only_second => 1 - Sum changes snd end.

Section Pair.
  Context (changes : list (R * R)) (rest : R).
  Hypothesis places : forall c, In c changes -> 0 < fst c.
  Hypothesis convex : forall c, In c changes -> 0 <= snd c.
  Hypothesis rest_nonneg : 0 <= rest.
  Hypothesis starts_at_1 : rest + Sum changes (fun c => snd c * fst c) = 1.
  Hypothesis slope_at_0 : Sum changes snd <= 1.

  Lemma first_is_a_law : law (outcomes changes) (first_law rest).
  Proof.
    split.
    - intros [c| |]; simpl; [apply Rmult_le_pos; apply pos_nonneg|auto|lra].
    - simpl. rewrite Sum_map. rewrite <- starts_at_1, Rplus_0_l. f_equal. apply Sum_ext. intros c I. simpl.
      specialize (places c I). specialize (convex c I). rewrite !Rmax_right by lra. ring.
  Qed.

  Lemma second_is_a_law : law (outcomes changes) (second_law changes).
  Proof.
    split.
    - intros [c| |]; simpl; [apply pos_nonneg|lra|lra].
    - simpl. rewrite Sum_map. rewrite (Sum_ext changes (fun c => second_law changes (Ratio c)) snd); [ring|]. intros c I. simpl. apply Rmax_right. auto.
  Qed.

  Lemma pair_profile a : 0 <= a ->
    profile (outcomes changes) (first_law rest) (second_law changes) a
    = rest + Sum changes (fun c => snd c * Rmax 0 (fst c - a)).
  Proof.
    intros A. unfold profile. simpl. rewrite Sum_map. rewrite (Rmax_right 0 (rest - a * 0)) by lra.
    rewrite (Rmax_left 0 (0 - a * (1 - Sum changes snd))) by nra. rewrite Rmult_0_r, Rminus_0_r, Rplus_0_l.
    f_equal. apply Sum_ext. intros c I. simpl. specialize (places c I). specialize (convex c I).
    rewrite (Rmax_right 0 (fst c) (Rlt_le _ _ places)), (Rmax_right 0 (snd c) convex), <- pos_scal by auto. f_equal. ring.
  Qed.

  (** Beside another pair: the sum of delta = sum_i P_i H(E - ln a_i) + rest. *)
  Theorem pair_beside {X} (dom : list X) (P Q : X -> R) a : law dom P -> (forall x, 0 <= Q x) -> 0 <= a ->
    profile (list_prod (outcomes changes) dom)
      (joint (first_law rest) (fun _ => P)) (joint (second_law changes) (fun _ => Q)) a
    = rest + Sum changes (fun c => snd c * fst c * profile dom P Q (a / fst c)).
  Proof.
    intros [P0 P1] Q0 A. unfold profile. rewrite Sum_list_prod. unfold joint. simpl. rewrite Sum_map.
    rewrite (Sum_ext dom _ (fun x => rest * P x)).
    2:{ intros x _. rewrite Rmult_0_l, Rmult_0_r, Rminus_0_r. apply Rmax_right, Rmult_le_pos; auto. }
    rewrite Sum_scal, P1, Rmult_1_r. f_equal. rewrite Sum_zero.
    2:{ intros x _. apply Rmax_left. specialize (Q0 x).
        assert (0 <= (1 - Sum changes snd) * Q x) by (apply Rmult_le_pos; lra).
        assert (0 <= a * ((1 - Sum changes snd) * Q x)) by (apply Rmult_le_pos; lra). lra. }
    rewrite Rplus_0_l. apply Sum_ext. intros c I. simpl. specialize (places c I). specialize (convex c I).
    rewrite (Rmax_right 0 (fst c) (Rlt_le _ _ places)), (Rmax_right 0 (snd c) convex), <- Sum_scal.
    apply Sum_ext. intros x _.
    rewrite <- pos_scal by (apply Rmult_le_pos; lra). f_equal. field. lra.
  Qed.
End Pair.

(** * A polygon, and the changes of its slope *)

(** Through (a0, h0) and the points that follow, constant beyond the last. *)
Fixpoint polygon (a0 h0 : R) (l : list (R * R)) (a : R) : R :=
  match l with
  | [] => h0
  | (a1, h1) :: r => if Rle_dec a a1 then h0 + (h1 - h0) / (a1 - a0) * (a - a0) else polygon a1 h1 r a
  end.

Fixpoint rising (a0 : R) (l : list (R * R)) : Prop :=
  match l with [] => True | (a1, _) :: r => a0 < a1 /\ rising a1 r end.

Definition slope (a0 h0 : R) (l : list (R * R)) : R :=
  match l with [] => 0 | (a1, h1) :: _ => (h1 - h0) / (a1 - a0) end.

Fixpoint changes (a0 h0 : R) (l : list (R * R)) : list (R * R) :=
  match l with [] => [] | (a1, h1) :: r => (a1, slope a1 h1 r - (h1 - h0) / (a1 - a0)) :: changes a1 h1 r end.

Fixpoint final (h0 : R) (l : list (R * R)) : R := match l with [] => h0 | (_, h1) :: r => final h1 r end.

Lemma changes_places l : forall a0 h0, rising a0 l -> forall c, In c (changes a0 h0 l) -> a0 < fst c.
Proof.
  induction l as [|[a1 h1] l IH]; simpl; intros a0 h0 R c I; [contradiction|]. destruct R as [L R], I as [<-|I]; [auto|].
  specialize (IH a1 h1 R c I). lra.
Qed.

Lemma changes_sum l : forall a0 h0, Sum (changes a0 h0 l) snd = - slope a0 h0 l.
Proof. induction l as [|[a1 h1] l IH]; simpl; intros a0 h0; [ring|]. rewrite IH. ring. Qed.

Lemma before_all l : forall a0 h0 a, rising a0 l -> a <= a0 ->
  final h0 l + Sum (changes a0 h0 l) (fun c => snd c * Rmax 0 (fst c - a)) = h0 + slope a0 h0 l * (a - a0).
Proof.
  induction l as [|[a1 h1] l IH]; simpl; intros a0 h0 a R A; [ring|]. destruct R as [L R].
  specialize (IH a1 h1 a R ltac:(lra)). rewrite Rmax_right by lra.
  assert (h1 - h0 = (h1 - h0) / (a1 - a0) * (a1 - a0)) by (field; lra). nra.
Qed.

Lemma polygon_by_changes l : forall a0 h0 a, rising a0 l -> a0 <= a ->
  polygon a0 h0 l a = final h0 l + Sum (changes a0 h0 l) (fun c => snd c * Rmax 0 (fst c - a)).
Proof.
  induction l as [|[a1 h1] l IH]; simpl; intros a0 h0 a R A; [ring|]. destruct R as [L R].
  destruct (Rle_dec a a1) as [B|B].
  - pose proof (before_all l a1 h1 a R B) as H. rewrite Rmax_right by lra.
    assert (h1 - h0 = (h1 - h0) / (a1 - a0) * (a1 - a0)) by (field; lra). nra.
  - rewrite Rmax_left by lra. rewrite (IH a1 h1 a R) by lra. ring.
Qed.

(** * The theorem *)

Definition convex_from_0 (H : R -> R) : Prop :=
  forall a b t, 0 <= a -> 0 <= b -> 0 <= t <= 1 -> H (t * a + (1 - t) * b) <= t * H a + (1 - t) * H b.

Definition falls (H : R -> R) : Prop := forall a b, 0 <= a -> a <= b -> H b <= H a.

(** Points at the values of H. *)
Definition on (H : R -> R) (l : list (R * R)) : Prop := forall c, In c l -> snd c = H (fst c).

Lemma chords_rise H a b c : convex_from_0 H -> 0 <= a -> a < b -> b < c -> (H b - H a) / (b - a) <= (H c - H b) / (c - b).
Proof.
  intros C A B D. specialize (C a c ((c - b) / (c - a)) A ltac:(lra)).
  assert (I : 0 < / (c - a)) by (apply Rinv_0_lt_compat; lra).
  assert (T : 0 <= (c - b) / (c - a) <= 1).
  { split; [apply Rmult_le_pos; lra|]. apply Rmult_le_reg_r with (c - a); [lra|]. field_simplify; lra. }
  specialize (C T). replace ((c - b) / (c - a) * a + (1 - (c - b) / (c - a)) * c) with b in C by (field; lra).
  assert (E : (c - a) * H b <= (c - b) * H a + (b - a) * H c).
  { apply Rmult_le_compat_l with (r := c - a) in C; [|lra].
    replace ((c - a) * ((c - b) / (c - a) * H a + (1 - (c - b) / (c - a)) * H c))
      with ((c - b) * H a + (b - a) * H c) in C by (field; lra). auto. }
  apply Rmult_le_reg_r with ((b - a) * (c - b)); [apply Rmult_lt_0_compat; lra|].
  replace ((H b - H a) / (b - a) * ((b - a) * (c - b))) with ((H b - H a) * (c - b)) by (field; lra).
  replace ((H c - H b) / (c - b) * ((b - a) * (c - b))) with ((H c - H b) * (b - a)) by (field; lra). nra.
Qed.

Lemma changes_convex H : convex_from_0 H -> falls H ->
  forall l a0, 0 <= a0 -> rising a0 l -> on H l -> forall c, In c (changes a0 (H a0) l) -> 0 <= snd c.
Proof.
  intros C F. induction l as [|[a1 h1] l IH]; simpl; intros a0 A R O c I; [contradiction|]. destruct R as [L R].
  assert (E : h1 = H a1) by (apply (O (a1, h1)); left; auto). subst h1.
  assert (O' : on H l) by (intros d J; apply O; right; auto).
  destruct I as [<-|I]; [|apply (IH a1 ltac:(lra) R O' c I)]. simpl. unfold slope. destruct l as [|[a2 h2] l].
  - pose proof (F a0 a1 A ltac:(lra)). assert (0 < / (a1 - a0)) by (apply Rinv_0_lt_compat; lra). unfold Rdiv. nra.
  - assert (E : h2 = H a2) by (apply (O' (a2, h2)); left; auto). subst h2. destruct R as [L' R].
    pose proof (chords_rise H a0 a1 a2 C A L L'). lra.
Qed.

Lemma polygon_above H : convex_from_0 H -> falls H ->
  forall l a0, 0 <= a0 -> rising a0 l -> on H l -> forall a, a0 <= a -> H a <= polygon a0 (H a0) l a.
Proof.
  intros C F. induction l as [|[a1 h1] l IH]; simpl; intros a0 A R O a B; [apply F; auto|]. destruct R as [L R].
  assert (E : h1 = H a1) by (apply (O (a1, h1)); left; auto). subst h1.
  assert (O' : on H l) by (intros d J; apply O; right; auto).
  destruct (Rle_dec a a1) as [D|D]; [|apply IH; auto; lra].
  assert (I : 0 < / (a1 - a0)) by (apply Rinv_0_lt_compat; lra).
  assert (T : 0 <= (a1 - a) / (a1 - a0) <= 1).
  { split; [apply Rmult_le_pos; lra|]. apply Rmult_le_reg_r with (a1 - a0); [lra|]. field_simplify; lra. }
  specialize (C a0 a1 ((a1 - a) / (a1 - a0)) A ltac:(lra) T).
  replace ((a1 - a) / (a1 - a0) * a0 + (1 - (a1 - a) / (a1 - a0)) * a1) with a in C by (field; lra).
  replace (H a0 + (H a1 - H a0) / (a1 - a0) * (a - a0))
    with ((a1 - a) / (a1 - a0) * H a0 + (1 - (a1 - a) / (a1 - a0)) * H a1) by (field; lra). auto.
Qed.

Lemma final_on H l : (forall a, 0 <= a -> 0 <= H a) -> forall a0, 0 <= a0 -> rising a0 l -> on H l -> 0 <= final (H a0) l.
Proof.
  intros P. induction l as [|[a1 h1] l IH]; simpl; intros a0 A R O; [auto|]. destruct R as [L R].
  assert (E : h1 = H a1) by (apply (O (a1, h1)); left; auto). subst h1.
  apply IH; auto; [lra|]. intros d J. apply O. right; auto.
Qed.

(** H is a bound on all divergences of a mechanism: convex, falling, 1 at 0 and at least 1 - a and 0.  Of its values at
    finitely many points two laws are made from the changes of slope.  Their divergences are the polygon: exactly H where
    H is one, and never below. *)
Theorem curve_is_a_pair (H : R -> R) (l : list (R * R)) :
  convex_from_0 H -> falls H -> H 0 = 1 -> (forall a, 0 <= a -> Rmax 0 (1 - a) <= H a) -> rising 0 l -> on H l ->
  let q := changes 0 1 l in
  let P := first_law (final 1 l) in
  let Q := second_law q in
  law (outcomes q) P /\ law (outcomes q) Q /\
  forall a, 0 <= a -> profile (outcomes q) P Q a = polygon 0 1 l a /\ H a <= profile (outcomes q) P Q a.
Proof.
  intros C F H0 L R O q P Q.
  assert (N : forall a, 0 <= a -> 0 <= H a) by (intros a A; eapply Rle_trans; [apply pos_nonneg|apply L; auto]).
  assert (places : forall c, In c q -> 0 < fst c) by (apply changes_places; auto).
  assert (convex : forall c, In c q -> 0 <= snd c).
  { unfold q. rewrite <- H0. apply changes_convex; auto. lra. }
  assert (rest : 0 <= final 1 l) by (rewrite <- H0; apply final_on; auto; lra).
  assert (one : final 1 l + Sum q (fun c => snd c * fst c) = 1).
  { rewrite (Sum_ext q _ (fun c => snd c * Rmax 0 (fst c - 0))).
    - unfold q. rewrite before_all by (auto; lra). ring.
    - intros c I. specialize (places c I). rewrite Rmax_right by lra. ring. }
  assert (sl : Sum q snd <= 1).
  { unfold q. rewrite changes_sum. unfold slope. destruct l as [|[a1 h1] l']; [lra|]. destruct R as [R _].
    assert (E : h1 = H a1) by (apply (O (a1, h1)); left; auto). subst h1.
    pose proof (L a1 ltac:(lra)). pose proof (pos_ge (1 - a1)).
    apply Rmult_le_reg_r with a1; [auto|]. replace (- ((H a1 - 1) / (a1 - 0)) * a1) with (1 - H a1) by (field; lra). lra. }
  split; [apply first_is_a_law; auto|]. split; [apply second_is_a_law; auto|]. intros a A.
  assert (E : profile (outcomes q) P Q a = polygon 0 1 l a).
  { unfold P, Q. rewrite pair_profile by auto. rewrite polygon_by_changes by auto. reflexivity. }
  split; [auto|]. rewrite E, <- H0. apply polygon_above; auto. lra.
Qed.

(** The polygon is H at its points. *)
Theorem polygon_at_points l : forall a0 h0, rising a0 l -> forall c, In c l -> polygon a0 h0 l (fst c) = snd c.
Proof.
  assert (B : forall l a0, rising a0 l -> forall c, In c l -> a0 < fst c).
  { induction l0 as [|[a1 h1] l0 IH]; simpl; intros a0 R c I; [contradiction|]. destruct R as [L R], I as [<-|I]; [auto|].
    specialize (IH a1 R c I). lra. }
  induction l as [|[a1 h1] l IH]; simpl; intros a0 h0 R c I; [contradiction|]. destruct R as [L R], I as [<-|I]; simpl.
  - destruct (Rle_dec a1 a1); [field|]; lra.
  - pose proof (B l a1 R c I). destruct (Rle_dec (fst c) a1); [lra|auto].
Qed.

(** * On the grid of the code: a_j = e^(j h) *)

(** P(E_j) = a_j q_j is rho_j - e^h rho_{j-1}, of slopes to the right and to the left. *)
Theorem change_on_the_grid a h before here after : 0 < a -> 0 < h ->
  a * ((after - here) / (a * exp h - a) - (here - before) / (a - a / exp h))
  = (after - here) / (exp h - 1) - exp h * ((here - before) / (exp h - 1)).
Proof.
  intros A Hh. assert (1 < exp h) by (pose proof (exp_increasing 0 h Hh); rewrite exp_0 in *; auto). field. repeat split; nra.
Qed.

(** The chord across a = 1, from the mirror image of the first point that is kept: its slope is c / a. *)
Theorem chord_across_1 a d : 1 < a ->
  a * ((d - (1 - / a + / a * d)) / (a - / a)) = - (1 - d) / (1 + / a).
Proof.
  intros A. field. repeat split; nra.
Qed.

(** * Pairs compose *)

(** (P, Q) dominates (A, B): at every a, not only at e^E for E >= 0. *)
Definition dominates {X Y} (dom : list X) (P Q : X -> R) (dom' : list Y) (A B : Y -> R) : Prop :=
  forall a, 0 <= a -> profile dom' A B a <= profile dom P Q a.

(** The pair of a bound dominates every mechanism whose divergences the bound covers. *)
Corollary curve_dominates {X} (dom : list X) (A B : X -> R) (H : R -> R) (l : list (R * R)) :
  convex_from_0 H -> falls H -> H 0 = 1 -> (forall a, 0 <= a -> Rmax 0 (1 - a) <= H a) -> rising 0 l -> on H l ->
  (forall a, 0 <= a -> profile dom A B a <= H a) ->
  dominates (outcomes (changes 0 1 l)) (first_law (final 1 l)) (second_law (changes 0 1 l)) dom A B.
Proof.
  intros C F H0 L R O U a Ha. apply Rle_trans with (H a); [auto|].
  destruct (curve_is_a_pair H l C F H0 L R O) as [_ [_ P]]. apply (P a Ha).
Qed.

Lemma profile_scaled {X} (dom : list X) (P Q : X -> R) p r : 0 < p ->
  Sum dom (fun x => Rmax 0 (p * P x - r * Q x)) = p * profile dom P Q (r / p).
Proof.
  intros H. unfold profile. rewrite <- Sum_scal. apply Sum_ext. intros x _. rewrite <- pos_scal by lra. f_equal. field. lra.
Qed.

(** [P, Q] for the first release, [P', Q'] for every second one that the outcome of the first may choose. *)
Theorem pairs_compose {X X' Y Y'} (dom : list X) (dom' : list X') (of : list Y) (of' : list Y')
    (P Q : X -> R) (P' Q' : X' -> R) (A B : Y -> R) (K L : Y -> Y' -> R) :
  law dom' P' -> (forall x, 0 <= Q' x) -> (forall x, 0 <= A x) -> (forall x, 0 <= B x) ->
  (forall y z, 0 <= K y z) -> (forall y z, 0 <= L y z) ->
  dominates dom P Q of A B -> (forall y, In y of -> dominates dom' P' Q' of' (K y) (L y)) ->
  dominates (list_prod dom dom') (joint P (fun _ => P')) (joint Q (fun _ => Q'))
    (list_prod of of') (joint A K) (joint B L).
Proof.
  intros [P0 P1] Q0 A0 B0 K0 L0 H H' a Ha. unfold profile. rewrite !Sum_list_prod. unfold joint. simpl.
  apply Rle_trans with (Sum of (fun y => Sum dom' (fun x => Rmax 0 (P' x * A y - (a * Q' x) * B y)))).
  - apply Sum_le. intros y I. specialize (A0 y). specialize (B0 y).
    rewrite (Sum_ext of' _ (fun z => Rmax 0 (A y * K y z - (a * B y) * L y z))) by (intros; f_equal; ring).
    rewrite (Sum_ext dom' _ (fun x => Rmax 0 (A y * P' x - (a * B y) * Q' x))) by (intros; f_equal; ring).
    destruct (Rle_lt_or_eq_dec 0 (A y) A0) as [Ay|Ay].
    + rewrite !profile_scaled by auto. apply Rmult_le_compat_l; [lra|]. apply H'; auto.
      apply Rmult_le_pos; [apply Rmult_le_pos; auto|left; apply Rinv_0_lt_compat; auto].
    + rewrite <- Ay. rewrite Sum_zero; [apply Sum_nonneg; intros; apply pos_nonneg|].
      intros z _. apply Rmax_left. specialize (L0 y z). assert (0 <= a * B y * L y z) by (repeat apply Rmult_le_pos; auto). lra.
  - rewrite (Sum_swap of dom'), (Sum_swap dom dom'). apply Sum_le. intros x I.
    rewrite (Sum_ext dom _ (fun z => Rmax 0 (P' x * P z - (a * Q' x) * Q z))) by (intros; f_equal; ring).
    specialize (P0 x). specialize (Q0 x). destruct (Rle_lt_or_eq_dec 0 (P' x) P0) as [Px|Px].
    + rewrite !profile_scaled by auto. apply Rmult_le_compat_l; [lra|]. apply H.
      apply Rmult_le_pos; [apply Rmult_le_pos; auto|left; apply Rinv_0_lt_compat; auto].
    + rewrite <- Px. rewrite Sum_zero; [apply Sum_nonneg; intros; apply pos_nonneg|].
      intros z _. apply Rmax_left. specialize (B0 z). assert (0 <= a * Q' x * B z) by (repeat apply Rmult_le_pos; auto). lra.
Qed.
