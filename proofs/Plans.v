(** Constants of plans: how far a release moves and what it costs, as dpfast computes them, each with the theorem that it
    suffices.  Values.v compares the definitions with what the functions of dpfast return. *)
From Coq Require Import Reals Lra List Psatz Lia ZArith.
From Dpfast Require Import Sums Privacy Exponential Concentrated Selection Sensitivity Survey Threshold Noise.
Import ListNotations.
Open Scope R_scope.

(** * Neighbours: one row replaced, or one added or removed *)

Definition near {Row} (replaced : bool) : list Row -> list Row -> Prop := if replaced then replace else add_remove.

Definition changed (replaced : bool) : R := if replaced then 2 else 1.

Lemma changed_pos replaced : 1 <= changed replaced <= 2.
Proof. destruct replaced; simpl; lra. Qed.

Lemma norm_opp {J} (coords : list J) v w : norm coords (fun j => v j - w j) = norm coords (fun j => w j - v j).
Proof.
  unfold norm. f_equal. rewrite <- (square_opp coords (fun j => v j - w j)). unfold square. apply Sum_ext. intros. ring.
Qed.

(** Sums of vectors of norm at most r. *)
Theorem sum_moves {Row J} (coords : list J) (adds : Row -> J -> R) r replaced a b :
  0 <= r -> (forall x, norm coords (adds x) <= r) -> near replaced a b ->
  norm coords (fun j => total adds a j - total adds b j) <= changed replaced * r.
Proof.
  intros R0 B N. destruct replaced; simpl in *.
  - destruct N. apply sum_replace; auto.
  - rewrite Rmult_1_l. destruct N; [rewrite norm_opp|]; apply sum_add_remove; auto.
Qed.

(** A row that loses its label is left out: it moves sums by no more than a row that is replaced, which is paid for. *)
Theorem sum_moves_without_label {Row J} (coords : list J) (adds : Row -> J -> R) r a b :
  0 <= r -> (forall x, norm coords (adds x) <= r) -> near false a b ->
  norm coords (fun j => total adds a j - total adds b j) <= changed true * r.
Proof.
  intros R0 B N. eapply Rle_trans; [apply (sum_moves coords adds r false a b R0 B N)|]. simpl. lra.
Qed.

(** * Residuals: the sum of a round of the logistic learner *)

Definition residual_factor (classes : nat) : R := if Nat.eqb classes 2 then 1 else 2.

(** The square of what a sum of a round moves by. *)
Definition logistic_square (replaced : bool) (classes : nat) (reach : R) : R :=
  residual_factor classes * ((changed replaced * reach) * (changed replaced * reach)).

Lemma norm_to_square {J} (coords : list J) v m : norm coords v <= m -> square coords v <= m * m.
Proof. intros H. rewrite <- norm_square. pose proof (norm_nonneg coords v). apply Rmult_le_compat; auto. Qed.

Theorem logistic_square_of_two {Row J} (coords : list J) (image : Row -> J -> R) (e limit : Row -> R) reach replaced a b :
  0 <= reach -> (forall x, Rabs (e x) <= limit x) -> (forall x, limit x * norm coords (image x) <= reach) ->
  near replaced a b ->
  square coords (fun j => total (fun x j => e x * image x j) a j - total (fun x j => e x * image x j) b j)
  <= logistic_square replaced 2 reach.
Proof.
  intros R0 E I N. unfold logistic_square, residual_factor. simpl. rewrite Rmult_1_l. apply norm_to_square.
  apply sum_moves; auto. intros x. apply (residual_of_two_classes coords _ _ (limit x)); auto.
Qed.

Theorem logistic_square_of_classes {Row J K} (coords : list J) (classes : list K) (image : Row -> J -> R)
    (e : Row -> K -> R) (limit : Row -> R) reach replaced a b :
  0 <= reach -> (forall x, 0 <= limit x) -> (forall x, limit x * norm coords (image x) <= reach) ->
  (forall x, square classes (e x) <= 2 * (limit x * limit x)) -> length classes <> 2%nat -> near replaced a b ->
  let sum := total (fun x z => image x (fst z) * e x (snd z)) in
  square (list_prod coords classes) (fun z => sum a z - sum b z) <= logistic_square replaced (length classes) reach.
Proof.
  intros R0 L I E K2 N sum. unfold logistic_square, residual_factor.
  destruct (Nat.eqb_spec (length classes) 2); [contradiction|].
  destruct (logistic_sum_of_classes coords classes image e limit reach R0 L I E) as [H H'].
  pose proof (sqrt_sqrt 2 ltac:(lra)) as S.
  assert (M : norm (list_prod coords classes) (fun z => sum a z - sum b z) <= changed replaced * (sqrt 2 * reach)).
  { destruct replaced; simpl in *.
    - destruct N. apply H.
    - rewrite Rmult_1_l. destruct N; [rewrite norm_opp|]; apply H'. }
  eapply Rle_trans; [apply norm_to_square, M|]. right.
  replace (changed replaced * (sqrt 2 * reach) * (changed replaced * (sqrt 2 * reach))) with
    (sqrt 2 * sqrt 2 * ((changed replaced * reach) * (changed replaced * reach))) by ring. rewrite S. reflexivity.
Qed.

(** * Counts of cells: each of [columns] once, and the labels c times; units of k rows *)

Definition counts_square (replaced : bool) (columns c k : R) : R := changed replaced * (k * k * (columns + c * c)).

Theorem counts_square_of_units {Row Column Cell Label} (columns : list Column) (cells : list Cell) (labels : list Label)
    (same : Cell -> Cell -> bool) (same_label : Label -> Label -> bool) (cell_of : Row -> Column -> Cell)
    (label_of : Row -> Label) c k l X Y r :
  (forall a b, same a b = true <-> a = b) -> (forall a b, same_label a b = true <-> a = b) ->
  NoDup cells -> NoDup labels -> 0 <= c -> (length X <= k)%nat -> (length Y <= k)%nat ->
  let counts := total (look same_label (fun x column => same (cell_of x column)) label_of c) in
  let moved := square (look_places columns cells labels) in
  moved (fun z => counts (l ++ X ++ r) z - counts (l ++ Y ++ r) z) <= counts_square true (INR (length columns)) c (INR k)
  /\ moved (fun z => counts (l ++ X ++ r) z - counts (l ++ r) z) <= counts_square false (INR (length columns)) c (INR k).
Proof.
  intros E F O O' C KX KY counts moved. unfold counts_square. simpl.
  destruct (survey_moves columns cells labels same same_label cell_of label_of c k E F O O' C) as [H H'].
  split; [apply H'; auto|]. rewrite Rmult_1_l. apply H; auto.
Qed.

(** * Noise: what sums cost in squares, and what they cost purely *)

(** One release that moves by the square m, with noise of scale s on each number: m / s^2 is mu^2 and twice rho. *)
Definition noise_square (m s : R) : R := m / (s * s).

(** A first look and later ones, for which at most p columns and a pool are paid together, cost what one costs that
    moves by the squares of all. *)
Theorem looks_cost_together (replaced : bool) p pool paid c k sigma : 0 < sigma -> paid <= p + pool ->
  noise_square (counts_square replaced p c k) sigma + noise_square (counts_square replaced paid 0 k) sigma
  <= noise_square (changed replaced * (k * k * (2 * p + pool + c * c))) sigma.
Proof.
  intros S H. unfold noise_square, counts_square.
  assert (R0 : 0 <= changed replaced * (k * k)) by (apply Rmult_le_pos; [destruct replaced; simpl; lra|nra]).
  pose proof (later_looks p pool paid c (changed replaced * (k * k)) sigma S R0 H) as T.
  replace (changed replaced * (k * k * (p + c * c))) with (changed replaced * (k * k) * (p + c * c)) by ring.
  replace (changed replaced * (k * k * (paid + 0 * 0))) with (changed replaced * (k * k) * paid) by ring.
  replace (changed replaced * (k * k * (2 * p + pool + c * c))) with (changed replaced * (k * k) * (2 * p + pool + c * c)) by ring.
  exact T.
Qed.

(** Counts that move by [moved] in sum, with discrete Laplace noise of this scale. *)
Definition laplace_epsilon (moved scale : R) : R := moved / scale.

Theorem laplace_epsilon_of_counts {Row J} (cells : list J) (same : J -> J -> bool) (cell : Row -> J) scale x y l r out :
  (forall a b, same a b = true <-> a = b) -> NoDup cells -> 0 < scale ->
  laplace_counts cells (/ scale) (histogram same cell (l ++ x :: r)) out
    <= exp (laplace_epsilon 2 scale) * laplace_counts cells (/ scale) (histogram same cell (l ++ y :: r)) out /\
  laplace_counts cells (/ scale) (histogram same cell (l ++ x :: r)) out
    <= exp (laplace_epsilon 1 scale) * laplace_counts cells (/ scale) (histogram same cell (l ++ r)) out.
Proof.
  intros E O S. assert (A : 0 < / scale) by (apply Rinv_0_lt_compat; auto). unfold laplace_epsilon, Rdiv.
  rewrite (Rmult_comm 2), (Rmult_comm 1). split.
  - apply (laplace_pure cells (/ scale) A _ _ 2 out). apply histogram_replace; auto.
  - apply (laplace_pure cells (/ scale) A _ _ 1 out). apply histogram_add; auto.
Qed.

(** A draw by scores whose changes lie in an interval of this width, with this exponent. *)
Definition draw_epsilon (width exponent : R) : R := exponent * width.

Theorem draw_epsilon_of_scores {C} (l : list C) (mass q q' : C -> R) t a b :
  l <> [] -> (forall c, 0 < mass c) -> 0 <= t -> (forall c, In c l -> a <= q' c - q c <= b) ->
  private l (draw_epsilon (b - a) t) 0 (exponential l mass t q') (exponential l mass t q).
Proof. intros L M T H. apply (proj1 (exponential_private l mass t L M T q q' a b H)). Qed.

(** Draws: (eta R)^2 T / 8. *)
Definition draws_rho (eta width times : R) : R := (eta * width) * (eta * width) * times / 8.

Theorem draws_rho_of_rounds {C} (l : list C) (M N : list C -> C -> R) t width m h :
  (forall h, law l (M h)) -> (forall h, law l (N h)) -> (forall h c, 0 < M h c) -> (forall h c, 0 < N h c) ->
  0 <= t * width ->
  (forall h, exists low, forall c, In c l -> exp low * N h c <= M h c <= exp (low + t * width) * N h c) ->
  zcdp (runs l m h) (draws_rho t width (INR m)) (run_law M h) (run_law N h).
Proof.
  intros LM LN HM HN TR H. unfold draws_rho.
  replace (t * width * (t * width) * INR m / 8) with (INR m * (t * width * (t * width) / 8)) by field.
  apply zcdp_rounds; auto. intros g. destruct (H g) as [low L]. apply bounded_range_zcdp with (low := low); auto.
Qed.

(** The same as Gaussian noise, mu^2: Theorem 1 of dpfast.accounting.claims.costs, which is not proved here. *)
Definition draws_mu_square (width times : R) : R := times * (width * width) * PI / 8.

(** * Scores of coordinates and of experts *)

Definition feature_width (negated : bool) (low high : R) : R :=
  if negated then 2 * Rmax (Rabs low) (Rabs high) else high - low.

(** [two] rows of an interval differ, or one: where a row is replaced, and where only the first rows of it count. *)
Definition winnow_width (two negated : bool) (low high : R) : R :=
  (if two then 2 else 1) * feature_width negated low high.

(** A row adds u y x to the scores; u is a weight between 0 and 1 that follows from the row and from what was released.
    The second row may be none, u' = 0. *)
Theorem winnow_width_of_features {J} (low high : R) (y y' u u' : R) (x x' : J -> R) :
  (y = 1 \/ y = -1) -> (y' = 1 \/ y' = -1) -> 0 <= u <= 1 -> 0 <= u' <= 1 ->
  (forall j, low <= x j <= high) -> (forall j, low <= x' j <= high) ->
  let change two j := u * y * x j - (if two : bool then u' * y' * x' j else 0) in
  forall two i j, change two i - change two j <= winnow_width two false low high.
Proof.
  intros Y Y' U U' X X' change two i j. unfold change, winnow_width, feature_width.
  pose proof (X i). pose proof (X j). pose proof (X' i). pose proof (X' j).
  assert (A : u * y * x i - u * y * x j <= high - low).
  { destruct Y as [-> | ->]; nra. }
  assert (B : - (u' * y' * x' i) + u' * y' * x' j <= high - low).
  { destruct Y' as [-> | ->]; nra. }
  destruct two; lra.
Qed.

(** With a copy of each feature of the other sign, s and s' are the signs of two candidates. *)
Theorem winnow_width_of_negated {J} (low high : R) (y y' u u' : R) (x x' : J -> R) :
  (y = 1 \/ y = -1) -> (y' = 1 \/ y' = -1) -> 0 <= u <= 1 -> 0 <= u' <= 1 ->
  (forall j, low <= x j <= high) -> (forall j, low <= x' j <= high) ->
  let change two j := u * y * x j - (if two : bool then u' * y' * x' j else 0) in
  forall two i j s s', (s = 1 \/ s = -1) -> (s' = 1 \/ s' = -1) ->
  s * change two i - s' * change two j <= winnow_width two true low high.
Proof.
  intros Y Y' U U' X X' change two i j s s' S S'. unfold winnow_width, feature_width.
  set (m := Rmax (Rabs low) (Rabs high)).
  assert (L : - m <= low).
  { unfold m. pose proof (Rmax_l (Rabs low) (Rabs high)). pose proof (Rle_abs (- low)). rewrite Rabs_Ropp in *. lra. }
  assert (H : high <= m).
  { unfold m. pose proof (Rmax_r (Rabs low) (Rabs high)). pose proof (Rle_abs high). lra. }
  assert (C : forall k, - ((if two then 2 else 1) * m) <= change two k <= (if two then 2 else 1) * m).
  { intros k. unfold change. pose proof (X k). pose proof (X' k).
    assert (A : - m <= u * y * x k <= m) by (destruct Y as [-> | ->]; nra).
    assert (B : - m <= u' * y' * x' k <= m) by (destruct Y' as [-> | ->]; nra).
    destruct two; lra. }
  pose proof (C i). pose proof (C j). destruct S as [-> | ->], S' as [-> | ->]; lra.
Qed.

(** Losses of experts between 0 and 1, or, signed, between -1 and 1; a round is replaced or lost. *)
Definition experts_width (replaced signed : bool) : R := changed replaced * (if signed then 2 else 1).

Theorem experts_width_of_losses {J} replaced signed (x x' : J -> R) :
  let low := if signed : bool then -1 else 0 in
  (forall j, low <= x j <= 1) -> (forall j, low <= x' j <= 1) ->
  let change j := x j - (if replaced : bool then x' j else 0) in
  forall i j, change i - change j <= experts_width replaced signed.
Proof.
  intros low X X' change i j. unfold change, experts_width, changed.
  pose proof (X i). pose proof (X j). pose proof (X' i). pose proof (X' j). unfold low in *. destruct replaced, signed; lra.
Qed.

(** The rows of interval k count c_k times and are in the scores of at most K - k releases, all together at most [most]
    times as much as rows of weight 1 in K releases. *)
Definition weight_fits (c k K grid : R) : Prop := c * c * (K - k) <= grid * grid * K < (c + 1) * (c + 1) * (K - k).

(** * Pairs of columns: the sum over cells and classes of |sum of residuals|, any number of classes *)
Section PairsOfClasses.
  Context {Row Cell Class : Type} (cells : list Cell) (classes : list Class) (same : Cell -> Cell -> bool).
  Context (cell : Row -> Cell) (residual : Row -> Class -> R) (most : R).
  Hypothesis same_eq : forall a b, same a b = true <-> a = b.
  Hypothesis cells_once : NoDup cells.
  Hypothesis residual_bound : forall x, Sum classes (fun c => Rabs (residual x c)) <= most.

  Definition class_score (rows : list Row) : R := Sum classes (fun c => pair_score cells same cell (fun x => residual x c) rows).

  Theorem class_score_add l x r : - most <= class_score (l ++ x :: r) - class_score (l ++ r) <= most.
  Proof.
    pose proof (residual_bound x) as B. unfold class_score. rewrite <- Sum_minus.
    assert (One : forall c, - Rabs (residual x c)
        <= pair_score cells same cell (fun x => residual x c) (l ++ x :: r) - pair_score cells same cell (fun x => residual x c) (l ++ r)
        <= Rabs (residual x c)).
    { intros c.
      assert (G : forall m : list Cell, forall f g : Cell -> R, (forall b, Rabs (f b) <= g b) -> Rabs (Sum m f) <= Sum m g).
      { clear. intros m f g H. induction m as [|b m IH]; simpl; [rewrite Rabs_R0; lra|].
        eapply Rle_trans; [apply Rabs_triang|]. specialize (H b). lra. }
      assert (K : Rabs (pair_score cells same cell (fun x => residual x c) (l ++ x :: r)
                        - pair_score cells same cell (fun x => residual x c) (l ++ r)) <= Rabs (residual x c)).
      { unfold pair_score. rewrite <- Sum_minus.
        apply Rle_trans with (Sum cells (fun b => Rabs (residual x c) * (if same (cell x) b then 1 else 0))).
        - apply G. intros b. eapply Rle_trans; [apply Rabs_triang_inv2|]. unfold in_cell. rewrite !Sum_app. simpl.
          match goal with |- Rabs ?v <= _ => replace v with (if same (cell x) b then residual x c else 0) by ring end.
          destruct (same (cell x) b); [lra|rewrite Rabs_R0; lra].
        - rewrite Sum_scal. pose proof (unit_sum same same_eq (cell x) cells cells_once) as U. unfold unit_at in U.
          pose proof (Rabs_pos (residual x c)).
          assert (0 <= Sum cells (fun b => if same (cell x) b then 1 else 0)).
          { apply Sum_nonneg. intros b _. destruct (same (cell x) b); lra. } nra. }
      split; [|eapply Rle_trans; [apply Rle_abs|exact K]].
      match type of K with Rabs ?v <= _ => pose proof (Rle_abs (- v)) as V; rewrite Rabs_Ropp in V end. lra. }
    split.
    - apply Rle_trans with (- Sum classes (fun c => Rabs (residual x c))); [lra|].
      rewrite <- (Rmult_1_l (Sum classes _)), <- Ropp_mult_distr_l_reverse, <- Sum_scal.
      apply Sum_le. intros c _. destruct (One c). lra.
    - apply Rle_trans with (Sum classes (fun c => Rabs (residual x c))); [|lra]. apply Sum_le. intros c _. apply One.
  Qed.

  Lemma class_score_units X l r : - (INR (length X) * most) <= class_score (l ++ X ++ r) - class_score (l ++ r) <= INR (length X) * most.
  Proof.
    induction X as [|x X IH]; [simpl; lra|]. change (length (x :: X)) with (S (length X)). rewrite S_INR.
    pose proof (class_score_add l x (X ++ r)) as H. simpl app in *. lra.
  Qed.
End PairsOfClasses.

(** The width of the interval of all changes, for units of k rows: a residual has absolute values of [limit] in sum for
    two classes, of which one score is kept, and of twice that for more. *)
Definition pairs_width (replaced : bool) (classes : nat) (limit k : R) : R :=
  2 * k * (changed replaced * residual_factor classes * limit).

Theorem pairs_width_of_units {Row Cell Class} (cells : list Cell) (scored : list Class) (same : Cell -> Cell -> bool)
    (cell : Row -> Cell) (residual : Row -> Class -> R) classes limit k l X Y r :
  (forall a b, same a b = true <-> a = b) -> NoDup cells -> 0 <= limit ->
  (forall x, Sum scored (fun c => Rabs (residual x c)) <= residual_factor classes * limit) ->
  (length X <= k)%nat -> (length Y <= k)%nat ->
  let score := class_score cells scored same cell residual in
  (- (pairs_width true classes limit (INR k) / 2) <= score (l ++ X ++ r) - score (l ++ Y ++ r)
     <= pairs_width true classes limit (INR k) / 2) /\
  (- (pairs_width false classes limit (INR k) / 2) <= score (l ++ X ++ r) - score (l ++ r)
     <= pairs_width false classes limit (INR k) / 2).
Proof.
  intros E O L B KX KY score. unfold pairs_width, changed.
  set (m := residual_factor classes * limit) in *.
  assert (M0 : 0 <= m) by (unfold m, residual_factor; destruct (Nat.eqb classes 2); lra).
  pose proof (class_score_units cells scored same cell residual m E O B X l r) as HX.
  pose proof (class_score_units cells scored same cell residual m E O B Y l r) as HY. fold score in HX, HY.
  assert (NX : INR (length X) * m <= INR k * m) by (apply Rmult_le_compat_r; [auto|apply le_INR; auto]).
  assert (NY : INR (length Y) * m <= INR k * m) by (apply Rmult_le_compat_r; [auto|apply le_INR; auto]).
  replace (2 * INR k * (2 * residual_factor classes * limit) / 2) with (2 * (INR k * m)) by (unfold m; field).
  replace (2 * INR k * (1 * residual_factor classes * limit) / 2) with (INR k * m) by (unfold m; field). lra.
Qed.

(** * Boosting: weights of at most [cap] units, images of norm at most [reach] steps *)

Definition boosting_moves (cap reach : R) : R := 2 * cap * reach.

Theorem boosting_moves_of_weights {Row J} (coords : list J) (others : list Row) (x : Row -> J -> R) (mu mu' : Row -> R)
    (z z' : J -> R) a a' cap reach :
  0 < reach -> (forall i, norm coords (x i) <= reach) -> norm coords z <= reach -> norm coords z' <= reach ->
  0 <= a <= cap -> 0 <= a' <= cap ->
  (forall i, In i others -> mu i <= mu' i) \/ (forall i, In i others -> mu' i <= mu i) ->
  Sum others mu + a = Sum others mu' + a' ->
  norm coords (fun j => (Sum others (fun i => mu i * x i j) + a * z j) - (Sum others (fun i => mu' i * x i j) + a' * z' j))
  <= boosting_moves cap reach.
Proof.
  intros R0 X Z Z' [A A1] [A' A1'] One Mass. assert (I : 0 < / reach) by (apply Rinv_0_lt_compat; auto).
  assert (Down : forall v, norm coords v <= reach -> norm coords (fun j => / reach * v j) <= 1).
  { intros v H. rewrite norm_scal, Rabs_right by lra. apply Rmult_le_reg_l with reach; auto.
    rewrite <- Rmult_assoc, Rinv_r by lra. lra. }
  pose proof (boosting_sensitivity coords others (fun i j => / reach * x i j) mu mu' (fun j => / reach * z j)
    (fun j => / reach * z' j) a a' (fun i => Down _ (X i)) (Down _ Z) (Down _ Z') A A' One Mass) as H.
  unfold boosting_moves. assert (M : 2 * Rmax a a' <= 2 * cap) by (unfold Rmax; destruct (Rle_dec a a'); lra).
  rewrite (norm_ext coords _ (fun j => reach * ((Sum others (fun i => mu i * (/ reach * x i j)) + a * (/ reach * z j))
    - (Sum others (fun i => mu' i * (/ reach * x i j)) + a' * (/ reach * z' j))))).
  - rewrite norm_scal, Rabs_right by lra. rewrite (Rmult_comm (2 * cap)). apply Rmult_le_compat_l; lra.
  - intros j. assert (S : forall m : Row -> R, reach * Sum others (fun i => m i * (/ reach * x i j)) = Sum others (fun i => m i * x i j)).
    { intros m. rewrite <- Sum_scal. apply Sum_ext. intros i _. field. lra. }
    rewrite Rmult_minus_distr_l, !Rmult_plus_distr_l, !S. field. lra.
Qed.

(** Agreements in steps of a grid move by at most [moved / grid] steps, rounded up, in either direction. *)
Definition stump_width (moved grid : Z) : Z := (2 * - (- moved / grid))%Z.

Theorem stump_width_of_agreements (moved grid a b : Z) : (0 < grid)%Z -> (a - b <= moved)%Z ->
  (2 * (a / grid - b / grid) <= stump_width moved grid)%Z.
Proof.
  intros G H. unfold stump_width.
  assert (L : (a / grid - b / grid <= - (- moved / grid))%Z); [|lia].
  assert (B : (a <= b + grid * - (- moved / grid))%Z).
  { pose proof (Z.mul_div_le (- moved) grid G). lia. }
  assert (D : (a / grid <= (b + grid * - (- moved / grid)) / grid)%Z) by (apply Z.div_le_mono; lia).
  rewrite (Z.mul_comm grid), Z.div_add in D by lia. lia.
Qed.

(** * Selection, and tests *)

Definition selection_price (m e : R) : R := 2 * ln ((m * exp e + 1) / (m + exp e)).

Theorem selection_price_of_runs {X} (dom : list X) (score : X -> nat) m (Q Q' : X -> R) e :
  1 <= m -> 0 <= e -> law dom Q -> law dom Q' -> private dom e 0 Q Q' -> private dom e 0 Q' Q ->
  private dom (e + selection_price m e) 0 (best dom score m Q) (best dom score m Q').
Proof. apply selection_pure. Qed.

(** What a run of tests costs, from the scales of both noises. *)
Inductive counts_of_tests := Any | Monotone | Running.

Definition tests_epsilon (kind : counts_of_tests) (threshold_scale test_scale : R) : R :=
  match kind with
  | Any => / threshold_scale + 2 * / test_scale
  | Monotone => / threshold_scale + / test_scale
  | Running => Rmax (/ threshold_scale) (/ test_scale)
  end.

Theorem tests_epsilon_of_any a b threshold q q' o p p' :
  0 < a -> 0 < b -> (forall i, (Z.abs (q i - q' i) <= 1)%Z) ->
  probability (geometric (/ a)) (geometric_above (/ b)) threshold q o p ->
  probability (geometric (/ a)) (geometric_above (/ b)) threshold q' o p' ->
  p <= exp (tests_epsilon Any a b) * p'.
Proof.
  intros A B H. assert (IA : 0 < / a) by (apply Rinv_0_lt_compat; auto). assert (IB : 0 < / b) by (apply Rinv_0_lt_compat; auto).
  apply above_threshold_any; auto; intros; try apply geometric_threshold; try apply geometric_test; lra.
Qed.

Theorem tests_epsilon_of_monotone a b threshold q q' o p p' :
  0 < a -> 0 < b -> (forall i, (q i <= q' i <= q i + 1)%Z) ->
  probability (geometric (/ a)) (geometric_above (/ b)) threshold q o p ->
  probability (geometric (/ a)) (geometric_above (/ b)) threshold q' o p' ->
  p <= exp (tests_epsilon Monotone a b) * p' /\ p' <= exp (tests_epsilon Monotone a b) * p.
Proof.
  intros A B H. assert (IA : 0 < / a) by (apply Rinv_0_lt_compat; auto). assert (IB : 0 < / b) by (apply Rinv_0_lt_compat; auto).
  apply above_threshold_monotone; auto; intros; try apply geometric_threshold; try apply geometric_test; lra.
Qed.

Theorem tests_epsilon_of_running a b threshold q q' j o p p' :
  0 < a -> 0 < b -> (forall i, (i < j)%nat -> q' i = q i) -> (forall i, (j <= i)%nat -> q' i = (q i + 1)%Z) ->
  probability (geometric (/ a)) (geometric_above (/ b)) threshold q o p ->
  probability (geometric (/ a)) (geometric_above (/ b)) threshold q' o p' ->
  0 <= p -> 0 <= p' -> p <= exp (tests_epsilon Running a b) * p' /\ p' <= exp (tests_epsilon Running a b) * p.
Proof.
  intros A B H H' P P' N N'. assert (IA : 0 < / a) by (apply Rinv_0_lt_compat; auto).
  assert (IB : 0 < / b) by (apply Rinv_0_lt_compat; auto).
  assert (K : p <= exp (/ a) * p' /\ p' <= exp (/ b) * p).
  { revert H H' P P'. apply above_threshold_running; intros; try apply geometric_threshold; try apply geometric_test; lra. }
  destruct K as [K K']. simpl.
  pose proof (exp_le _ _ (Rmax_l (/ a) (/ b))). pose proof (exp_le _ _ (Rmax_r (/ a) (/ b))).
  split; eapply Rle_trans; try apply K; try apply K'; apply Rmult_le_compat_r; auto.
Qed.

(** * Lone words and labels *)

Definition lone (words labels each of_labels : R) : R := words * each + labels * of_labels.

Theorem lone_of_columns {Column} (columns : list Column) each of_labels :
  Sum columns (fun _ => each) + of_labels = lone (INR (length columns)) 1 each of_labels.
Proof.
  unfold lone. rewrite Rmult_1_l. f_equal. induction columns as [|c l IH]; [simpl; lra|].
  change (length (c :: l)) with (S (length l)). rewrite S_INR. simpl. lra.
Qed.
