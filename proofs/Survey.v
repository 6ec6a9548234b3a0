(** A survey and its learner (dpfast.discovery.survey, dpfast.accounting.curves.opening).

    A survey is two looks at the table: counts of cells, words and labels, then counts of bins that follow from the
    first look.  A lone word is a word, or a label, that only one of two neighbours has; it is published with a small
    probability.  What is published beside it, and whatever follows, has a curve. *)
From Coq Require Import Reals Lra List Psatz.
From Dpfast Require Import Sums Privacy Sensitivity.
Import ListNotations.
Open Scope R_scope.

(** * The chance that something lone is published *)

Definition chance {X} (dom : list X) (P : X -> R) (S : X -> bool) : R := Sum dom (fun x => if S x then P x else 0).

Lemma chance_nonneg {X} (dom : list X) P S : (forall x, 0 <= P x) -> 0 <= chance dom P S.
Proof. intros H. apply Sum_nonneg. intros x _. destruct (S x); [auto|lra]. Qed.

(** The events need not be independent. *)
Theorem union_bound {X I} (dom : list X) P (events : list I) (shows : I -> X -> bool) :
  (forall x, 0 <= P x) ->
  chance dom P (fun x => existsb (fun i => shows i x) events) <= Sum events (fun i => chance dom P (shows i)).
Proof.
  intros H. induction events as [|i l IH]; simpl.
  - unfold chance. rewrite Sum_zero; [lra|auto].
  - apply Rle_trans with (chance dom P (shows i) + chance dom P (fun x => existsb (fun i => shows i x) l)); [|lra].
    unfold chance. rewrite <- Sum_plus. apply Sum_le. intros x _. specialize (H x).
    destruct (shows i x), (existsb (fun i => shows i x) l); simpl; lra.
Qed.

(** Each column has its lone words, of [rows w] rows; [None] stands for the labels.  The lone words of a column have at
    most k rows together, for no more rows differ, and a word of j rows is published with probability at most j d / k. *)
Theorem words_and_labels {X Column Word} (dom : list X) P (columns : list Column) (lone : option Column -> list Word)
    (rows : Word -> R) (shows : option Column * Word -> X -> bool) k d d_labels :
  (forall x, 0 <= P x) -> 0 < k -> (forall c, 0 <= d c) -> 0 <= d_labels ->
  (forall c, Sum (lone c) rows <= k) ->
  let of c := match c with None => d_labels | Some c => d c end in
  (forall c w, In w (lone c) -> chance dom P (shows (c, w)) <= rows w * of c / k) ->
  let all := flat_map (fun c => map (pair c) (lone c)) (None :: map Some columns) in
  chance dom P (fun x => existsb (fun i => shows i x) all) <= Sum columns d + d_labels.
Proof.
  intros P0 K D DL R of H all. eapply Rle_trans; [apply union_bound; auto|].
  unfold all. rewrite Sum_flat_map. simpl. rewrite !Sum_map.
  assert (O0 : forall c, 0 <= of c) by (intros [c|]; simpl; auto).
  assert (One : forall c, Sum (lone c) (fun w => chance dom P (shows (c, w))) <= of c).
  { intros c. apply Rle_trans with (Sum (lone c) (fun w => rows w * (of c / k))).
    - apply Sum_le. intros w I. specialize (H c w I). unfold Rdiv in *. lra.
    - rewrite Sum_scal_r. specialize (R c).
      assert (Q : 0 <= of c / k) by (apply Rmult_le_pos; [auto|left; apply Rinv_0_lt_compat; auto]).
      apply Rle_trans with (k * (of c / k)); [apply Rmult_le_compat_r; auto|]. right. field. lra. }
  assert (Sum columns (fun c => Sum (map (pair (Some c)) (lone (Some c))) (fun i => chance dom P (shows i)))
          <= Sum columns d).
  { apply Sum_le. intros c _. rewrite Sum_map. apply (One (Some c)). }
  pose proof (One None) as N. simpl in N. lra.
Qed.

(** * d + (1 - d) G *)

(** The divergence is convex in v = e^E and 1 at v = 0: at a fraction of v it is not above the chord. *)
Lemma between_0_and_v {X} (dom : list X) (B B' : X -> R) v t :
  law dom B -> (forall x, 0 <= B' x) -> 0 <= v -> 0 <= t <= 1 ->
  Sum dom (fun x => Rmax 0 (B x - v * t * B' x)) <= t * Sum dom (fun x => Rmax 0 (B x - v * B' x)) + (1 - t).
Proof.
  intros [B0 B1] B0' V T. rewrite <- Sum_scal. replace (1 - t) with ((1 - t) * Sum dom B) by (rewrite B1; ring).
  rewrite <- Sum_scal, <- Sum_plus. apply Sum_le. intros x _. pose proof (B0 x).
  pose proof (pos_nonneg (B x - v * B' x)). pose proof (pos_ge (B x - v * B' x)). apply pos_le; nra.
Qed.

(** Something lone is published with probability m on the first table and m' on the second.  B and B' are the laws of all
    that is released where nothing lone is: the survey, and the learner that follows. *)
Theorem lone_or_private {X} (dom : list X) (P Q A B B' : X -> R) E m m' d G :
  0 <= m <= d -> 0 <= m' <= d -> d < 1 -> law dom A -> law dom B -> law dom B' ->
  private dom E G B B' -> G <= 1 ->
  (forall x, P x = m * A x + (1 - m) * B x) -> (forall x, (1 - m') * B' x <= Q x) ->
  private dom E (d + (1 - d) * G) P Q.
Proof.
  intros [M0 M] [M0' M'] D1 [A0 A1] LB [B0' B1'] H G1 HP HQ. pose proof LB as [B0 B1]. unfold private, hockey in *.
  set (t := (1 - m') / (1 - m)). pose proof (exp_pos E) as V. set (v := exp E) in *.
  assert (T : (1 - m) * t = 1 - m') by (unfold t; field; lra).
  assert (T0 : 0 <= t) by (apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]).
  set (h := Sum dom (fun x => Rmax 0 (B x - v * B' x))) in *.
  assert (H0 : 0 <= h) by (apply Sum_nonneg; intros; apply pos_nonneg).
  assert (S : Sum dom (fun x => Rmax 0 (P x - v * Q x)) <= m + (1 - m) * Sum dom (fun x => Rmax 0 (B x - v * t * B' x))).
  { replace m with (m * Sum dom A) at 1 by (rewrite A1; ring). rewrite <- !Sum_scal, <- Sum_plus. apply Sum_le.
    intros x _. specialize (A0 x). specialize (HQ x). rewrite HP.
    pose proof (pos_nonneg (B x - v * t * B' x)) as N. pose proof (pos_ge (B x - v * t * B' x)) as U.
    apply pos_le; [apply Rplus_le_le_0_compat; apply Rmult_le_pos; lra|].
    assert (v * ((1 - m') * B' x) <= v * Q x) by (apply Rmult_le_compat_l; lra).
    assert ((1 - m) * (B x - v * t * B' x) <= (1 - m) * Rmax 0 (B x - v * t * B' x)) by (apply Rmult_le_compat_l; lra).
    replace ((1 - m) * (B x - v * t * B' x)) with ((1 - m) * B x - v * ((1 - m) * t * B' x)) in * by ring.
    rewrite T in *. lra. }
  assert (C : forall e, e <= d -> e + (1 - e) * h <= d + (1 - d) * G).
  { intros e Hd. assert ((1 - d) * h <= (1 - d) * G) by (apply Rmult_le_compat_l; lra). nra. }
  apply Rle_trans with (1 := S). destruct (Rle_dec 1 t) as [T1|T1].
  - apply Rle_trans with (2 := C m M). apply Rplus_le_compat_l, Rmult_le_compat_l; [lra|].
    apply Sum_le. intros x _. apply pos_mono. specialize (B0' x).
    assert (v * 1 * B' x <= v * t * B' x) by (apply Rmult_le_compat_r; nra). lra.
  - apply Rle_trans with (2 := C m' M').
    pose proof (between_0_and_v dom B B' v t LB B0' ltac:(lra) ltac:(lra)) as I. fold h in I.
    assert ((1 - m) * Sum dom (fun x => Rmax 0 (B x - v * t * B' x)) <= (1 - m) * (t * h + (1 - t)))
      by (apply Rmult_le_compat_l; lra).
    replace ((1 - m) * (t * h + (1 - t))) with ((1 - m) * t * h + ((1 - m) - (1 - m) * t)) in * by ring.
    rewrite T in *. lra.
Qed.

(** The same by the event itself: B and B' are the laws of the whole fit, given that nothing lone was published.  Which
    words are lone depends on the two tables, so each has its own event. *)
Definition given_not {X} (dom : list X) (P : X -> R) (S : X -> bool) (x : X) : R :=
  if S x then 0 else P x / (1 - chance dom P S).

Lemma given_not_law {X} (dom : list X) P S : law dom P -> chance dom P S < 1 -> law dom (given_not dom P S).
Proof.
  intros [P0 P1] C. assert (I : 0 < / (1 - chance dom P S)) by (apply Rinv_0_lt_compat; lra). split.
  - intros x. unfold given_not. destruct (S x); [lra|]. apply Rmult_le_pos; [auto|lra].
  - unfold given_not. rewrite (Sum_ext _ _ (fun x => (P x - (if S x then P x else 0)) * / (1 - chance dom P S))).
    + rewrite Sum_scal_r, Sum_minus, P1. fold (chance dom P S). field. lra.
    + intros x _. destruct (S x); unfold Rdiv; ring.
Qed.

Theorem survey_curve {X} (dom : list X) (P Q : X -> R) (shows shows' : X -> bool) E d G :
  law dom P -> law dom Q -> chance dom P shows <= d -> chance dom Q shows' <= d -> d < 1 -> G <= 1 ->
  private dom E G (given_not dom P shows) (given_not dom Q shows') ->
  private dom E (d + (1 - d) * G) P Q.
Proof.
  intros LP LQ M M' D G1 H. pose proof LP as [P0 P1]. pose proof LQ as [Q0 Q1].
  set (m := chance dom P shows) in *. set (m' := chance dom Q shows') in *.
  assert (M0 : 0 <= m) by (apply chance_nonneg; auto). assert (M0' : 0 <= m') by (apply chance_nonneg; auto).
  set (A := fun x => if Rlt_dec 0 m then (if shows x then P x / m else 0) else P x).
  assert (Z : ~ 0 < m -> forall x, In x dom -> shows x = true -> P x = 0).
  { intros N x I S. assert (Hx : (if shows x then P x else 0) <= m).
    { apply (Sum_term dom (fun x => if shows x then P x else 0)); auto. intros y _. destruct (shows y); [auto|lra]. }
    rewrite S in Hx. specialize (P0 x). lra. }
  assert (LA : law dom A).
  { unfold A. destruct (Rlt_dec 0 m) as [m0|m0]; [|auto]. split.
    - intros x. destruct (shows x); [|lra]. apply Rmult_le_pos; [auto|left; apply Rinv_0_lt_compat; auto].
    - rewrite (Sum_ext _ _ (fun x => (if shows x then P x else 0) * / m)).
      + rewrite Sum_scal_r. fold (chance dom P shows). fold m. field. lra.
      + intros x _. destruct (shows x); unfold Rdiv; ring. }
  set (P' := fun x => m * A x + (1 - m) * given_not dom P shows x).
  assert (PP : forall x, In x dom -> P x = P' x).
  { intros x I. unfold P', A, given_not. fold m. destruct (Rlt_dec 0 m) as [m0|m0]; destruct (shows x) eqn:S.
    - field. lra.
    - field. lra.
    - rewrite (Z m0 x I S). ring.
    - assert (m = 0) by lra. rewrite H0. field. }
  unfold private, hockey. rewrite (Sum_ext dom _ (fun x => Rmax 0 (P' x - exp E * Q x))).
  2:{ intros x I. rewrite (PP x I). reflexivity. }
  apply (lone_or_private dom P' Q A (given_not dom P shows) (given_not dom Q shows') E m m' d G); auto; try lra.
  - apply given_not_law; auto. fold m. lra.
  - apply given_not_law; auto. fold m'. lra.
  - intros x. unfold given_not. fold m'. destruct (shows' x); [rewrite Rmult_0_r; auto|].
    right. field. lra.
Qed.

(** Of the first look N is what is common, which does not depend on what is lone, L; the second look and the learner see
    both.  [None] says that nothing lone was published.  G is the curve of all that is released where nothing lone is. *)
Theorem survey_and_learner {U W Y} (domU : list U) (lone : list W) (domY : list Y) (N N' : U -> R)
    (L L' : option W -> R) (K K' : U * option W -> Y -> R) E d G :
  law domU N -> law domU N' -> law (None :: map Some lone) L -> law (None :: map Some lone) L' ->
  (forall z, law domY (K z)) -> (forall z, law domY (K' z)) ->
  Sum lone (fun w => L (Some w)) <= d -> Sum lone (fun w => L' (Some w)) <= d -> d < 1 -> G <= 1 ->
  private (list_prod domU domY) E G (joint N (fun u => K (u, None))) (joint N' (fun u => K' (u, None))) ->
  private (list_prod (list_prod domU (None :: map Some lone)) domY) E (d + (1 - d) * G)
    (joint (joint N (fun _ => L)) K) (joint (joint N' (fun _ => L')) K').
Proof.
  intros HN HN' HL HL' HK HK' D D' D1 G1 H.
  set (shows := fun z : (U * option W) * Y => match snd (fst z) with None => false | Some _ => true end).
  assert (C : forall (N : U -> R) (L : option W -> R) (K : U * option W -> Y -> R),
    law domU N -> (forall z, law domY (K z)) ->
    chance (list_prod (list_prod domU (None :: map Some lone)) domY) (joint (joint N (fun _ => L)) K) shows
    = Sum lone (fun w => L (Some w))).
  { clear. intros N L K [_ N1] HK. unfold chance. rewrite !Sum_list_prod.
    transitivity (Sum domU (fun u => N u * Sum lone (fun w => L (Some w)))); [|rewrite Sum_scal_r, N1; ring].
    apply Sum_ext. intros u _. simpl. rewrite Sum_zero; [|auto]. rewrite Rplus_0_l, Sum_map, <- Sum_scal.
    apply Sum_ext. intros w _. unfold joint, shows. simpl. rewrite Sum_scal. destruct (HK (u, Some w)) as [_ ->]. ring. }
  apply (survey_curve _ _ _ shows shows); auto; try (rewrite C; auto).
  1,2: apply joint_law; auto; apply joint_law; auto.
  unfold private, hockey in *. apply Rle_trans with (2 := H). right. unfold given_not. rewrite !C by auto.
  destruct HL as [L0 L1]. destruct HL' as [L0' L1']. simpl in L1, L1'. rewrite Sum_map in L1, L1'.
  rewrite !Sum_list_prod. apply Sum_ext. intros u _. simpl.
  rewrite (Sum_zero (map Some lone)).
  2:{ intros [w|] I; [|apply in_map_iff in I; destruct I as [? [? ?]]; congruence].
      apply Sum_zero. intros y _. simpl. rewrite Rmult_0_r, Rminus_0_r, Rmax_left; lra. }
  rewrite Rplus_0_r. apply Sum_ext. intros y _. unfold joint. simpl. f_equal.
  assert (V : forall n l k s : R, l + s = 1 -> s < 1 -> n * l * k / (1 - s) = n * k).
  { intros n l k s Hs Hl. replace l with (1 - s) by lra. field. lra. }
  rewrite !V by lra. reflexivity.
Qed.

(** * How far rows move the counts of a look *)

(** Counts to which a row adds vectors without negative entries: rows that are replaced move them by the squares of both. *)
Section Counts.
  Context {Row Place : Type} (places : list Place) (adds : Row -> Place -> R) (s : R).
  Hypothesis adds_nonneg : forall x z, 0 <= adds x z.
  Hypothesis adds_square : forall x, square places (adds x) <= s.
  Hypothesis s_nonneg : 0 <= s.

  Let counts := total adds.

  Lemma counts_nonneg X z : 0 <= counts X z.
  Proof. apply Sum_nonneg. auto. Qed.

  Lemma counts_of_unit X k : (length X <= k)%nat -> square places (counts X) <= INR k * INR k * s.
  Proof.
    intros K. assert (B : forall x, norm places (adds x) <= sqrt s).
    { intros x. apply norm_le; [apply sqrt_pos|]. rewrite sqrt_sqrt; auto. }
    pose proof (total_bound places adds (sqrt s) B X) as T. rewrite <- norm_square. fold counts in T.
    assert (L : INR (length X) <= INR k) by (apply le_INR; auto). pose proof (pos_INR (length X)).
    pose proof (sqrt_pos s). pose proof (norm_nonneg places (counts X)).
    assert (N : norm places (counts X) <= INR k * sqrt s) by nra.
    replace (INR k * INR k * s) with ((INR k * sqrt s) * (INR k * sqrt s)).
    - apply Rmult_le_compat; auto.
    - replace (INR k * sqrt s * (INR k * sqrt s)) with (INR k * INR k * (sqrt s * sqrt s)) by ring.
      rewrite sqrt_sqrt; auto.
  Qed.

  Theorem counts_add_remove l X r k : (length X <= k)%nat ->
    square places (fun z => counts (l ++ X ++ r) z - counts (l ++ r) z) <= INR k * INR k * s.
  Proof.
    intros K. eapply Rle_trans; [right|apply (counts_of_unit X k K)]. apply Sum_ext. intros z _.
    unfold counts, total. rewrite !Sum_app. ring.
  Qed.

  Theorem counts_replace l X Y r k : (length X <= k)%nat -> (length Y <= k)%nat ->
    square places (fun z => counts (l ++ X ++ r) z - counts (l ++ Y ++ r) z) <= 2 * (INR k * INR k * s).
  Proof.
    intros K K'. apply Rle_trans with (square places (counts X) + square places (counts Y)).
    - unfold square. rewrite <- Sum_plus. apply Sum_le. intros z _.
      pose proof (counts_nonneg X z). pose proof (counts_nonneg Y z).
      replace (counts (l ++ X ++ r) z - counts (l ++ Y ++ r) z) with (counts X z - counts Y z)
        by (unfold counts, total; rewrite !Sum_app; ring). nra.
    - pose proof (counts_of_unit X k K). pose proof (counts_of_unit Y k K'). lra.
  Qed.
End Counts.

(** A row has at most [most column] cells or words of each column, and at most one label, which it counts c times. *)
Section Looks.
  Context {Row Column Cell Label : Type} (columns : list Column) (cells : list Cell) (labels : list Label).
  Context (same_label : Label -> Label -> bool).
  Hypothesis same_label_eq : forall a b, same_label a b = true <-> a = b.
  Hypothesis labels_once : NoDup labels.
  Context (counted : Row -> Column -> Cell -> bool) (label_of : Row -> Label) (c : R) (most : Column -> R).
  Hypothesis c_nonneg : 0 <= c.
  Hypothesis counted_most : forall x column, Sum cells (fun cell => if counted x column cell then 1 else 0) <= most column.

  Definition look_places : list (Column * Cell + Label) := map inl (list_prod columns cells) ++ map inr labels.

  Definition look (x : Row) (z : Column * Cell + Label) : R :=
    match z with
    | inl (column, cell) => if counted x column cell then 1 else 0
    | inr label => if same_label (label_of x) label then c else 0
    end.

  Lemma look_nonneg x z : 0 <= look x z.
  Proof. destruct z as [[column cell]|label]; simpl; [destruct (counted _ _ _)|destruct (same_label _ _)]; lra. Qed.

  Lemma look_split x : square look_places (look x) =
    Sum columns (fun column => Sum cells (fun cell => if counted x column cell then 1 else 0))
    + Sum labels (unit_at same_label (label_of x)) * (c * c).
  Proof.
    unfold square, look_places. rewrite Sum_app, !Sum_map, Sum_list_prod. f_equal.
    - apply Sum_ext. intros column _. apply Sum_ext. intros cell _. simpl. destruct (counted _ _ _); ring.
    - rewrite <- Sum_scal_r. apply Sum_ext. intros label _. unfold unit_at. simpl. destruct (same_label _ _); ring.
  Qed.

  Lemma look_square x : square look_places (look x) <= Sum columns most + c * c.
  Proof.
    rewrite look_split. apply Rplus_le_compat; [apply Sum_le; auto|].
    pose proof (unit_sum same_label same_label_eq (label_of x) labels labels_once). nra.
  Qed.

  Hypothesis most_nonneg : forall column, 0 <= most column.

  Lemma most_sum_nonneg : 0 <= Sum columns most + c * c.
  Proof. assert (0 <= Sum columns most) by (apply Sum_nonneg; auto). nra. Qed.

  (** Squares add up over columns and the label's weight, for units of k rows, too. *)
  Theorem look_add_remove l X r k : (length X <= k)%nat ->
    square look_places (fun z => total look (l ++ X ++ r) z - total look (l ++ r) z)
    <= INR k * INR k * (Sum columns most + c * c).
  Proof. apply counts_add_remove; [apply look_square|apply most_sum_nonneg]. Qed.

  Theorem look_replace l X Y r k : (length X <= k)%nat -> (length Y <= k)%nat ->
    square look_places (fun z => total look (l ++ X ++ r) z - total look (l ++ Y ++ r) z)
    <= 2 * (INR k * INR k * (Sum columns most + c * c)).
  Proof. apply counts_replace; [apply look_nonneg|apply look_square|apply most_sum_nonneg]. Qed.

  (** No less will do: a row with [most] cells in each column, which is replaced by one with others, moves all of it. *)
  Theorem look_is_attained l x y r :
    (forall w column, In w [x; y] -> Sum cells (fun cell => if counted w column cell then 1 else 0) = most column) ->
    (forall column cell, counted x column cell = true -> counted y column cell = false) ->
    (forall w, In w [x; y] -> Sum labels (unit_at same_label (label_of w)) = 1) -> label_of x <> label_of y ->
    square look_places (fun z => total look (l ++ x :: r) z - total look (l ++ y :: r) z)
    = 2 * (Sum columns most + c * c).
  Proof.
    intros All Other One Differ.
    assert (S : forall w, In w [x; y] -> square look_places (look w) = Sum columns most + c * c).
    { intros w I. rewrite look_split, (One w I), Rmult_1_l. f_equal. apply Sum_ext. auto. }
    transitivity (square look_places (look x) + square look_places (look y)).
    - unfold square. rewrite <- Sum_plus. apply Sum_ext. intros z _.
      replace (total look (l ++ x :: r) z - total look (l ++ y :: r) z) with (look x z - look y z)
        by (unfold total; rewrite !Sum_app; simpl; ring).
      assert (look x z * look y z = 0).
      { destruct z as [[column cell]|label]; simpl.
        - destruct (counted x column cell) eqn:E; [rewrite (Other _ _ E)|]; ring.
        - destruct (same_label (label_of x) label) eqn:E; [|ring].
          destruct (same_label (label_of y) label) eqn:F; [|ring].
          apply same_label_eq in E. apply same_label_eq in F. congruence. }
      lra.
    - rewrite !S by (simpl; auto). ring.
  Qed.
End Looks.

(** What a row has of each column, in one cell or as one word: 1. *)
Lemma one_each {Column} (columns : list Column) : Sum columns (fun _ => 1) = INR (length columns).
Proof.
  induction columns as [|column l IH]; [reflexivity|].
  change (length (column :: l)) with (S (length l)). rewrite S_INR, <- IH. simpl. ring.
Qed.

(** Of columns whose words are counted as themselves and in their groups: 2. *)
Lemma words_twice {Column} (columns : list Column) (words : Column -> bool) :
  Sum columns (fun column => if words column then 2 else 1) = INR (length columns) + INR (length (filter words columns)).
Proof.
  induction columns as [|column l IH]; [simpl; ring|].
  change (length (column :: l)) with (S (length l)). simpl Sum. simpl filter. rewrite S_INR, IH.
  destruct (words column); [|ring].
  change (length (column :: filter words l)) with (S (length (filter words l))). rewrite S_INR. ring.
Qed.

(** The survey as it is: every cell of a table is counted once, in a cell of its column or as a word. *)
Corollary survey_moves {Row Column Cell Label} (columns : list Column) (cells : list Cell) (labels : list Label)
    (same : Cell -> Cell -> bool) (same_label : Label -> Label -> bool) (cell_of : Row -> Column -> Cell)
    (label_of : Row -> Label) c k :
  (forall a b, same a b = true <-> a = b) -> (forall a b, same_label a b = true <-> a = b) ->
  NoDup cells -> NoDup labels -> 0 <= c ->
  let counts := total (look same_label (fun x column => same (cell_of x column)) label_of c) in
  let moved := square (look_places columns cells labels) in
  (forall l X r, (length X <= k)%nat ->
     moved (fun z => counts (l ++ X ++ r) z - counts (l ++ r) z) <= INR k * INR k * (INR (length columns) + c * c)) /\
  (forall l X Y r, (length X <= k)%nat -> (length Y <= k)%nat ->
     moved (fun z => counts (l ++ X ++ r) z - counts (l ++ Y ++ r) z)
     <= 2 * (INR k * INR k * (INR (length columns) + c * c))).
Proof.
  intros E F O O' C counts moved. rewrite <- one_each.
  assert (U : forall (x : Row) column, Sum cells (fun cell => if same (cell_of x column) cell then 1 else 0) <= 1).
  { intros x column. apply (unit_sum same E (cell_of x column) cells O). }
  split; intros; [apply look_add_remove|apply look_replace]; auto; intros; lra.
Qed.

(** A survey that counted words in groups, too, in [p_w] of its columns: its claim needs p + p_w, and p is too little. *)
Corollary words_in_groups_too {Row Column Cell Label} (columns : list Column) (cells : list Cell) (labels : list Label)
    (same_label : Label -> Label -> bool) (counted : Row -> Column -> Cell -> bool) (label_of : Row -> Label) c
    (words : Column -> bool) l x y r :
  (forall a b, same_label a b = true <-> a = b) ->
  (forall w column, In w [x; y] ->
     Sum cells (fun cell => if counted w column cell then 1 else 0) = if words column then 2 else 1) ->
  (forall column cell, counted x column cell = true -> counted y column cell = false) ->
  (forall w, In w [x; y] -> Sum labels (unit_at same_label (label_of w)) = 1) -> label_of x <> label_of y ->
  let counts := total (look same_label counted label_of c) in
  square (look_places columns cells labels) (fun z => counts (l ++ x :: r) z - counts (l ++ y :: r) z)
  = 2 * (INR (length columns) + INR (length (filter words columns)) + c * c).
Proof.
  intros E All Other One Differ counts. rewrite <- words_twice. apply look_is_attained; auto.
Qed.

(** * Looks that follow *)

(** Of two pairs of laws, the second one dominates the first if no divergence of the first is larger.  With factors on
    both sides a divergence is that at their quotient. *)
Definition apart {X} (dom : list X) (P Q : X -> R) (p q : R) : R := Sum dom (fun x => Rmax 0 (p * P x - q * Q x)).

Definition dominated {X Z} (dom : list X) (P Q : X -> R) (by_dom : list Z) (A B : Z -> R) : Prop :=
  forall p q, 0 <= p -> 0 <= q -> apart dom P Q p q <= apart by_dom A B p q.

(** A look and one that follows it, where every outcome of the first is followed by a dominated pair. *)
Theorem dominated_composition {X Y A C} (dom : list X) (dom' : list Y) (domA : list A) (domC : list C)
    (P Q : X -> R) (K L : X -> Y -> R) (PA QA : A -> R) (PC QC : C -> R) :
  (forall x, 0 <= P x) -> (forall x, 0 <= Q x) -> (forall z, 0 <= PC z) -> (forall z, 0 <= QC z) ->
  dominated dom P Q domA PA QA -> (forall x, dominated dom' (K x) (L x) domC PC QC) ->
  dominated (list_prod dom dom') (joint P K) (joint Q L)
            (list_prod domA domC) (joint PA (fun _ => PC)) (joint QA (fun _ => QC)).
Proof.
  intros P0 Q0 PC0 QC0 H H' p q Hp Hq. unfold apart. rewrite !Sum_list_prod. unfold joint. simpl.
  apply Rle_trans with (Sum dom (fun x => Sum domC (fun z => Rmax 0 (p * P x * PC z - q * Q x * QC z)))).
  - apply Sum_le. intros x _. specialize (H' x (p * P x) (q * Q x)). unfold apart in H'.
    assert (0 <= p * P x) by (apply Rmult_le_pos; auto). assert (0 <= q * Q x) by (apply Rmult_le_pos; auto).
    eapply Rle_trans; [right|apply H'; auto]. apply Sum_ext. intros y _. f_equal. ring.
  - rewrite Sum_swap. apply Rle_trans with (Sum domC (fun z => Sum domA (fun a =>
      Rmax 0 (p * (PA a * PC z) - q * (QA a * QC z))))); [|right; apply Sum_swap].
    apply Sum_le. intros z _. specialize (H (p * PC z) (q * QC z)). unfold apart in H.
    assert (0 <= p * PC z) by (apply Rmult_le_pos; auto). assert (0 <= q * QC z) by (apply Rmult_le_pos; auto).
    apply Rle_trans with (Sum dom (fun x => Rmax 0 (p * PC z * P x - q * QC z * Q x))).
    + right. apply Sum_ext. intros x _. f_equal. ring.
    + eapply Rle_trans; [apply H; auto|right]. apply Sum_ext. intros a _. f_equal. ring.
Qed.

(** Looks one after another, each of which, what it costs and whether there is another one, follows from earlier
    outcomes.  [G s] is the divergence of what costs s: of the Gaussian mechanism with mu^2 = s. *)
Section Steering.
  Context {X : Type} (dom : list X) (G : R -> R -> R -> R).

  Inductive looks := Done | Look (cost : R) (P Q : X -> R) (next : X -> looks).

  (** The divergence of all outcomes together: the sum over their histories. *)
  Fixpoint divergence (t : looks) (p q : R) : R :=
    match t with
    | Done => Rmax 0 (p - q)
    | Look _ P Q next => Sum dom (fun x => divergence (next x) (p * P x) (q * Q x))
    end.

  Fixpoint histories (t : looks) : list (R * R) :=
    match t with
    | Done => [(1, 1)]
    | Look _ P Q next => flat_map (fun x => map (fun h => (P x * fst h, Q x * snd h)) (histories (next x))) dom
    end.

  Theorem divergence_of_histories t : forall p q,
    divergence t p q = Sum (histories t) (fun h => Rmax 0 (p * fst h - q * snd h)).
  Proof.
    induction t as [|cost P Q next IH]; intros p q; simpl.
    - rewrite !Rmult_1_r. ring.
    - rewrite Sum_flat_map. apply Sum_ext. intros x _. rewrite IH, Sum_map. apply Sum_ext. intros h _. simpl.
      f_equal. ring.
  Qed.

  (** A look costs a if it makes of what costs s at most what costs a + s. *)
  Definition costs (a : R) (P Q : X -> R) : Prop := forall s p q, 0 <= s -> 0 <= p -> 0 <= q ->
    Sum dom (fun x => G s (p * P x) (q * Q x)) <= G (a + s) p q.

  (** What is left of s after each look is paid for does not fall below 0, whatever the outcomes are. *)
  Fixpoint within (s : R) (t : looks) : Prop :=
    match t with
    | Done => 0 <= s
    | Look a P Q next =>
        0 <= a <= s /\ (forall x, 0 <= P x) /\ (forall x, 0 <= Q x) /\ costs a P Q /\ forall x, within (s - a) (next x)
    end.

  Theorem steered_looks :
    (forall s p q, 0 <= s -> 0 <= p -> 0 <= q -> Rmax 0 (p - q) <= G s p q) ->
    forall t s p q, within s t -> 0 <= p -> 0 <= q -> divergence t p q <= G s p q.
  Proof.
    intros Least t. induction t as [|a P Q next IH]; intros s p q W Hp Hq; simpl in *; [auto|].
    destruct W as [[A B] [P0 [Q0 [C N]]]].
    apply Rle_trans with (Sum dom (fun x => G (s - a) (p * P x) (q * Q x))).
    - apply Sum_le. intros x _. apply IH; auto; apply Rmult_le_pos; auto.
    - replace (G s p q) with (G (a + (s - a)) p q) by (f_equal; ring). apply (C (s - a) p q); auto. lra.
  Qed.
End Steering.

(** A look of q columns for which s are paid has sqrt (q / s) times the noise: it costs what s columns do. *)
Theorem shared_look q s r sigma :
  0 < sigma -> 0 < q -> 0 < s ->
  r * q / (sigma * sqrt (q / s) * (sigma * sqrt (q / s))) = r * s / (sigma * sigma).
Proof.
  intros S Hq Hs. replace (sigma * sqrt (q / s) * (sigma * sqrt (q / s)))
    with (sigma * sigma * (sqrt (q / s) * sqrt (q / s))) by ring.
  rewrite sqrt_sqrt; [field; lra|]. apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; auto].
Qed.

(** A first look of p columns and of labels, and later ones for which at most p columns and a pool are paid together,
    cost at most what discovery plans: what one look that moves by r (2 p + pool + c^2) does. *)
Theorem later_looks p pool s c r sigma :
  0 < sigma -> 0 <= r -> s <= p + pool ->
  r * (p + c * c) / (sigma * sigma) + r * s / (sigma * sigma) <= r * (2 * p + pool + c * c) / (sigma * sigma).
Proof.
  intros S Hr H. assert (I : 0 < / (sigma * sigma)) by (apply Rinv_0_lt_compat; nra). unfold Rdiv.
  rewrite <- Rmult_plus_distr_r. apply Rmult_le_compat_r; [lra|]. nra.
Qed.
