(** How far one row moves a statistic: sums of vectors, unsettled rows, weighted rows, histograms, scores of pairs.

    A vector has its coordinates in a finite list; entries are real numbers, integers among them. *)
From Coq Require Import Reals Lra List Psatz Lia.
From Dpfast Require Import Sums Privacy.
Import ListNotations.
Open Scope R_scope.

Lemma abs_minus_1 : Rabs (-1) = 1.
Proof. rewrite Rabs_left; lra. Qed.

(** * Squares of Euclidean norms *)
Section Vectors.
  Context {J : Type} (coords : list J).

  Definition square (v : J -> R) : R := Sum coords (fun j => v j * v j).

  Lemma square_nonneg v : 0 <= square v.
  Proof. apply Sum_nonneg. intros j _. apply (Rle_0_sqr (v j)). Qed.

  Lemma square_opp v : square (fun j => - v j) = square v.
  Proof. apply Sum_ext. intros; ring. Qed.

  Lemma square_scal c v : square (fun j => c * v j) = c * c * square v.
  Proof. unfold square. rewrite <- Sum_scal. apply Sum_ext. intros; ring. Qed.

  Lemma square_diff v w : square (fun j => v j - w j) <= 2 * square v + 2 * square w.
  Proof.
    unfold square. rewrite <- !Sum_scal, <- Sum_plus. apply Sum_le. intros j _.
    pose proof (Rle_0_sqr (v j + w j)) as H. unfold Rsqr in H. lra.
  Qed.

  (** Cauchy, Schwarz. *)
  Lemma dot_square v w : Sum coords (fun j => v j * w j) * Sum coords (fun j => v j * w j) <= square v * square w.
  Proof.
    set (a := square v). set (b := Sum coords (fun j => v j * w j)). set (c := square w).
    assert (H : forall x, 0 <= a * x * x + 2 * b * x + c).
    { intros x. replace (a * x * x + 2 * b * x + c) with (square (fun j => x * v j + w j)).
      - apply square_nonneg.
      - unfold square, a, b, c, square. replace (Sum coords (fun j => v j * v j) * x * x + 2 * Sum coords (fun j => v j * w j) * x
          + Sum coords (fun j => w j * w j)) with ((x * x) * Sum coords (fun j => v j * v j) + ((2 * x) * Sum coords (fun j => v j * w j)
          + Sum coords (fun j => w j * w j))) by ring.
        rewrite <- !Sum_scal, <- !Sum_plus. apply Sum_ext. intros; ring. }
    pose proof (square_nonneg v) as A. fold a in A. pose proof (square_nonneg w) as C. fold c in C.
    destruct (Req_dec a 0) as [E|E].
    - assert (b = 0).
      { destruct (Req_dec b 0); auto. exfalso. specialize (H (- (c + 1) / (2 * b))).
        replace (a * (- (c + 1) / (2 * b)) * (- (c + 1) / (2 * b)) + 2 * b * (- (c + 1) / (2 * b)) + c) with (-1) in H; [lra|].
        rewrite E. field. auto. }
      rewrite H0, E. lra.
    - specialize (H (- b / a)).
      replace (a * (- b / a) * (- b / a) + 2 * b * (- b / a) + c) with ((a * c - b * b) / a) in H by (field; auto).
      assert (0 <= (a * c - b * b) / a * a) by (apply Rmult_le_pos; lra).
      replace ((a * c - b * b) / a * a) with (a * c - b * b) in H0 by (field; auto). lra.
  Qed.

  Definition norm (v : J -> R) : R := sqrt (square v).

  Lemma norm_nonneg v : 0 <= norm v.
  Proof. apply sqrt_pos. Qed.

  Lemma norm_square v : norm v * norm v = square v.
  Proof. apply sqrt_sqrt, square_nonneg. Qed.

  Lemma norm_le v r : 0 <= r -> square v <= r * r -> norm v <= r.
  Proof. intros R H. unfold norm. rewrite <- (sqrt_square r R). apply sqrt_le_1_alt; auto. Qed.

  Lemma norm_triangle v w : norm (fun j => v j + w j) <= norm v + norm w.
  Proof.
    pose proof (norm_nonneg v) as V. pose proof (norm_nonneg w) as W.
    apply norm_le; [lra|].
    assert (E : square (fun j => v j + w j) = square v + 2 * Sum coords (fun j => v j * w j) + square w).
    { unfold square. rewrite <- Sum_scal, <- !Sum_plus. apply Sum_ext. intros; ring. }
    assert (D : Sum coords (fun j => v j * w j) <= norm v * norm w).
    { pose proof (dot_square v w) as CS. rewrite <- (norm_square v), <- (norm_square w) in CS.
      destruct (Rle_dec (Sum coords (fun j => v j * w j)) 0); [nra|].
      apply Rsqr_incr_0; unfold Rsqr; nra. }
    rewrite E, <- norm_square, <- norm_square. nra.
  Qed.

  Lemma norm_scal c v : norm (fun j => c * v j) = Rabs c * norm v.
  Proof.
    unfold norm. rewrite square_scal, sqrt_mult by (try apply square_nonneg; nra).
    f_equal. apply sqrt_Rsqr_abs.
  Qed.

  Lemma norm_ext v w : (forall j, v j = w j) -> norm v = norm w.
  Proof. intros H. unfold norm, square. f_equal. apply Sum_ext. intros; rewrite H; auto. Qed.

  Lemma norm_sum {I} (l : list I) (v : I -> J -> R) : norm (fun j => Sum l (fun i => v i j)) <= Sum l (fun i => norm (v i)).
  Proof.
    induction l as [|i l IH]; simpl.
    - rewrite (norm_ext _ (fun j => 0 * 0)) by (intros; ring). rewrite (norm_scal 0 (fun _ => 0)), Rabs_R0. lra.
    - eapply Rle_trans; [apply (norm_triangle (v i))|]. lra.
  Qed.
End Vectors.

(** * Sums over rows of a vector that each row has by itself, given what was released *)
Section Sums.
  Context {Row J : Type} (coords : list J) (adds : Row -> J -> R) (r : R).
  Hypothesis r_nonneg : 0 <= r.
  Hypothesis adds_bound : forall x, norm coords (adds x) <= r.

  Definition total (rows : list Row) (j : J) : R := Sum rows (fun x => adds x j).

  Theorem sum_add_remove l x s : norm coords (fun j => total (l ++ x :: s) j - total (l ++ s) j) <= r.
  Proof.
    rewrite (norm_ext coords _ (adds x)); [auto|]. intros j. unfold total. rewrite !Sum_app. simpl. ring.
  Qed.

  Theorem sum_replace l x y s : norm coords (fun j => total (l ++ x :: s) j - total (l ++ y :: s) j) <= 2 * r.
  Proof.
    rewrite (norm_ext coords _ (fun j => adds x j + -1 * adds y j)).
    2:{ intros j. unfold total. rewrite !Sum_app. simpl. ring. }
    eapply Rle_trans; [apply norm_triangle|]. rewrite norm_scal, abs_minus_1.
    pose proof (adds_bound x). pose proof (adds_bound y). lra.
  Qed.

  Lemma total_bound X : norm coords (total X) <= INR (length X) * r.
  Proof.
    eapply Rle_trans; [apply (norm_sum coords X adds)|]. induction X as [|x X IH]; [simpl; lra|].
    change (length (x :: X)) with (S (length X)). rewrite S_INR. simpl. pose proof (adds_bound x). lra.
  Qed.

  (** A unit of k rows: k times as much. *)
  Theorem sum_units_add l X s k : (length X <= k)%nat ->
    norm coords (fun j => total (l ++ X ++ s) j - total (l ++ s) j) <= INR k * r.
  Proof.
    intros K. rewrite (norm_ext coords _ (total X)).
    2:{ intros j. unfold total. rewrite !Sum_app. ring. }
    eapply Rle_trans; [apply total_bound|]. apply Rmult_le_compat_r; auto. apply le_INR; auto.
  Qed.

  Theorem sum_units_replace l X Y s k : (length X <= k)%nat -> (length Y <= k)%nat ->
    norm coords (fun j => total (l ++ X ++ s) j - total (l ++ Y ++ s) j) <= INR k * (2 * r).
  Proof.
    intros K K'. rewrite (norm_ext coords _ (fun j => total X j + -1 * total Y j)).
    2:{ intros j. unfold total. rewrite !Sum_app. ring. }
    eapply Rle_trans; [apply norm_triangle|]. rewrite norm_scal, abs_minus_1.
    pose proof (total_bound X). pose proof (total_bound Y).
    assert (INR (length X) * r <= INR k * r) by (apply Rmult_le_compat_r; [auto|apply le_INR; auto]).
    assert (INR (length Y) * r <= INR k * r) by (apply Rmult_le_compat_r; [auto|apply le_INR; auto]). lra.
  Qed.
End Sums.

(** * What a row adds in a round of unsettled rows (dpfast.learners.halfspaces.perceptron) *)
Section Unsettled.
  Context {J : Type} (coords : list J).

  (** Two classes: y q or nothing, times a weight of at most 1 (of a class, or what a loss gives the row). *)
  Theorem unsettled_two_classes (q : J -> R) y weight r :
    0 <= r -> norm coords q <= r -> y = 1 \/ y = -1 -> Rabs weight <= 1 ->
    norm coords (fun j => weight * (y * q j)) <= r.
  Proof.
    intros R Q Y W. rewrite norm_scal, norm_scal.
    assert (Rabs y = 1) as -> by (destruct Y as [->| ->]; [apply Rabs_R1|apply abs_minus_1]).
    pose proof (norm_nonneg coords q). pose proof (Rabs_pos weight). nra.
  Qed.

  (** k classes: q (e_own - e_rival)', of norm sqrt(2) |q|; coordinates are pairs (coordinate, class). *)
  Context {K : Type} (classes : list K) (same : K -> K -> bool).
  Hypothesis same_eq : forall a b, same a b = true <-> a = b.
  Hypothesis classes_once : NoDup classes.

  Definition unit_at (a : K) (b : K) : R := if same a b then 1 else 0.

  Lemma unit_sum a l : NoDup l -> Sum l (unit_at a) <= 1.
  Proof.
    induction 1 as [|b l I N IH]; simpl; [lra|]. unfold unit_at at 1. destruct (same a b) eqn:E; [|lra].
    apply same_eq in E. subst b. rewrite Sum_zero; [lra|]. intros b J'. unfold unit_at.
    destruct (same a b) eqn:E; [|auto]. apply same_eq in E. subst b. contradiction.
  Qed.

  Lemma square_outer (q : J -> R) (p : K -> R) :
    square (list_prod coords classes) (fun z => q (fst z) * p (snd z)) = square coords q * square classes p.
  Proof.
    unfold square. rewrite Sum_list_prod. simpl. rewrite <- Sum_scal_r. apply Sum_ext. intros j _.
    rewrite <- Sum_scal. apply Sum_ext. intros; ring.
  Qed.

  Theorem unsettled_classes (q : J -> R) own rival weight r :
    0 <= r -> norm coords q <= r -> Rabs weight <= 1 ->
    norm (list_prod coords classes) (fun z => weight * (q (fst z) * (unit_at own (snd z) - unit_at rival (snd z))))
    <= sqrt 2 * r.
  Proof.
    intros R Q W. rewrite norm_scal.
    assert (P : square classes (fun b => unit_at own b - unit_at rival b) <= 2).
    { apply Rle_trans with (Sum classes (fun b => unit_at own b + unit_at rival b)).
      - apply Sum_le. intros b _. unfold unit_at. destruct (same own b), (same rival b); lra.
      - rewrite Sum_plus. pose proof (unit_sum own classes classes_once). pose proof (unit_sum rival classes classes_once). lra. }
    assert (N : norm (list_prod coords classes) (fun z => q (fst z) * (unit_at own (snd z) - unit_at rival (snd z)))
                <= sqrt 2 * r).
    { pose proof (sqrt_pos 2). apply norm_le; [apply Rmult_le_pos; auto|].
      rewrite (square_outer q (fun b => unit_at own b - unit_at rival b)).
      replace (sqrt 2 * r * (sqrt 2 * r)) with ((sqrt 2 * sqrt 2) * (r * r)) by ring. rewrite sqrt_sqrt by lra.
      rewrite <- norm_square. pose proof (norm_nonneg coords q). pose proof (square_nonneg classes (fun b => unit_at own b - unit_at rival b)).
      assert (norm coords q * norm coords q <= r * r) by nra. nra. }
    pose proof (norm_nonneg (list_prod coords classes) (fun z => q (fst z) * (unit_at own (snd z) - unit_at rival (snd z)))).
    pose proof (Rabs_pos weight). nra.
  Qed.

  (** Softmax on a grid: probabilities cut to P_b >= 0 for the other classes, of sum at most G, and their sum for the own
      class, so that a row adds at most sqrt(2) G |q|. *)
  Theorem softmax_classes (others : list K) (P : K -> R) G :
    (forall b, 0 <= P b) -> 0 <= G -> Sum others P <= G ->
    Sum others P * Sum others P + Sum others (fun b => P b * P b) <= (sqrt 2 * G) * (sqrt 2 * G).
  Proof.
    intros P0 G0 H. replace (sqrt 2 * G * (sqrt 2 * G)) with ((sqrt 2 * sqrt 2) * (G * G)) by ring.
    rewrite sqrt_sqrt by lra. pose proof (Sum_nonneg others P (fun b _ => P0 b)) as S0.
    assert (Sum others (fun b => P b * P b) <= Sum others P * Sum others P); [|nra].
    clear H. induction others as [|b l IH]; simpl; [lra|].
    pose proof (Sum_nonneg l P (fun b _ => P0 b)). pose proof (P0 b). specialize (IH H). nra.
  Qed.

  (** Half residuals: r = 2 a clip(y - p, -1/2, 1/2), 0 <= a <= 1, so that |r x| <= |x|. *)
  Definition clip (x : R) : R := Rmax (-1/2) (Rmin x (1/2)).

  Theorem half_residual (x : J -> R) a y p r :
    0 <= r -> norm coords x <= r -> 0 <= a <= 1 -> norm coords (fun j => 2 * a * clip (y - p) * x j) <= r.
  Proof.
    intros R X A. rewrite norm_scal.
    assert (C : Rabs (2 * a * clip (y - p)) <= 1).
    { unfold clip, Rmax, Rmin. apply Rabs_le.
      destruct (Rle_dec (y - p) (1/2)); destruct (Rle_dec _ _); nra. }
    pose proof (norm_nonneg coords x). pose proof (Rabs_pos (2 * a * clip (y - p))). nra.
  Qed.
End Unsettled.

(** * Boosting: weights that all move the same way move the sum by 2 max(mu, mu') *)
Section Boosting.
  Context {J Row : Type} (coords : list J).

  (** Of the rows [others] both tables have the same image x with |x| <= 1 and weights mu, mu'; row i has z, weight a, in
      one table and z', weight a', in the other.  Both tables have the same mass.  [one_way]: the weights of the others
      all rise or all fall, as capped scaling has it. *)
  Theorem boosting_sensitivity (others : list Row) (x : Row -> J -> R) (mu mu' : Row -> R) (z z' : J -> R) a a' :
    (forall i, norm coords (x i) <= 1) -> norm coords z <= 1 -> norm coords z' <= 1 -> 0 <= a -> 0 <= a' ->
    (forall i, In i others -> mu i <= mu' i) \/ (forall i, In i others -> mu' i <= mu i) ->
    Sum others mu + a = Sum others mu' + a' ->
    norm coords (fun j => (Sum others (fun i => mu i * x i j) + a * z j) - (Sum others (fun i => mu' i * x i j) + a' * z' j))
    <= 2 * Rmax a a'.
  Proof.
    intros X Z Z' A A' One Mass.
    rewrite (norm_ext coords _ (fun j => Sum others (fun i => (mu i - mu' i) * x i j) + (a * z j + (- a') * z' j))).
    2:{ intros j. rewrite (Sum_ext _ (fun i => (mu i - mu' i) * x i j) (fun i => mu i * x i j - mu' i * x i j)) by (intros; ring).
        rewrite Sum_minus. ring. }
    eapply Rle_trans; [apply norm_triangle|].
    assert (O : norm coords (fun j => Sum others (fun i => (mu i - mu' i) * x i j)) <= Rabs (a - a')).
    { eapply Rle_trans; [apply (norm_sum coords others (fun i j => (mu i - mu' i) * x i j))|].
      apply Rle_trans with (Sum others (fun i => Rabs (mu i - mu' i))).
      - apply Sum_le. intros i _. rewrite norm_scal. pose proof (X i). pose proof (Rabs_pos (mu i - mu' i)).
        pose proof (norm_nonneg coords (x i)). nra.
      - destruct One as [One|One].
        + rewrite (Sum_ext _ _ (fun i => mu' i - mu i)).
          2:{ intros i I. specialize (One i I). rewrite Rabs_left1; lra. }
          rewrite Sum_minus. pose proof (Rle_abs (a - a')). lra.
        + rewrite (Sum_ext _ _ (fun i => mu i - mu' i)).
          2:{ intros i I. specialize (One i I). rewrite Rabs_right; lra. }
          rewrite Sum_minus. pose proof (Rle_abs (- (a - a'))). rewrite Rabs_Ropp in *. lra. }
    pose proof (norm_triangle coords (fun j => a * z j) (fun j => - a' * z' j)) as T.
    rewrite !norm_scal, Rabs_Ropp, (Rabs_right a), (Rabs_right a') in T by lra.
    pose proof (norm_nonneg coords z). pose proof (norm_nonneg coords z').
    unfold Rmax. destruct (Rle_dec a a'); unfold Rabs in O; destruct (Rcase_abs (a - a')); nra.
  Qed.

  (** Capped scaling min(1, c w) moves all weights the way c moves. *)
  Theorem capped_scaling_moves_one_way (others : list Row) (w : Row -> R) c c' :
    (forall i, 0 <= w i) ->
    (forall i, In i others -> Rmin 1 (c * w i) <= Rmin 1 (c' * w i)) \/
    (forall i, In i others -> Rmin 1 (c' * w i) <= Rmin 1 (c * w i)).
  Proof.
    intros W. destruct (Rle_dec c c') as [L|L]; [left|right]; intros i _; specialize (W i);
      apply Rle_min_compat_l; nra.
  Qed.

  (** In units of the mass kappa n, with weights of at most 1: 2 / (kappa n). *)
  Corollary boosting_sensitivity_of_the_mean (others : list Row) (x : Row -> J -> R) mu mu' (z z' : J -> R) a a' mass :
    (forall i, norm coords (x i) <= 1) -> norm coords z <= 1 -> norm coords z' <= 1 -> 0 <= a <= 1 -> 0 <= a' <= 1 ->
    (forall i, In i others -> mu i <= mu' i) \/ (forall i, In i others -> mu' i <= mu i) ->
    Sum others mu + a = mass -> Sum others mu' + a' = mass -> 0 < mass ->
    norm coords (fun j => / mass * ((Sum others (fun i => mu i * x i j) + a * z j) -
                                    (Sum others (fun i => mu' i * x i j) + a' * z' j))) <= 2 / mass.
  Proof.
    intros X Z Z' [A A1] [A' A1'] One M M' M0. rewrite norm_scal.
    assert (I : 0 < / mass) by (apply Rinv_0_lt_compat; auto). rewrite Rabs_right by lra.
    unfold Rdiv. rewrite Rmult_comm. apply Rmult_le_compat_r; [lra|].
    eapply Rle_trans; [apply boosting_sensitivity; auto; lra|].
    unfold Rmax. destruct (Rle_dec a a'); lra.
  Qed.
End Boosting.

(** * The opening histogram: a row is in one cell of each of some columns *)
Section Columns.
  Context {Row Col Cell : Type} (cols : list Col) (cells : list Cell) (same : Cell -> Cell -> bool) (code : Row -> Col -> Cell).
  Hypothesis same_eq : forall a b, same a b = true <-> a = b.
  Hypothesis cells_once : NoDup cells.

  Definition counts (rows : list Row) (z : Col * Cell) : R :=
    Sum rows (fun x => if same (code x (fst z)) (snd z) then 1 else 0).

  Lemma one_cell_of_a_column a : Sum cells (fun b => if same a b then 1 else 0) <= 1.
  Proof. apply (unit_sum same same_eq a cells cells_once). Qed.

  Lemma columns_sum (g : Col -> R) b : (forall c, g c <= b) -> Sum cols g <= INR (length cols) * b.
  Proof.
    intros H. induction cols as [|c l IH]; [simpl; lra|].
    change (length (c :: l)) with (S (length l)). rewrite S_INR. simpl. pose proof (H c). lra.
  Qed.

  Theorem histogram_columns_add l x r :
    square (list_prod cols cells) (fun z => counts (l ++ x :: r) z - counts (l ++ r) z) <= INR (length cols).
  Proof.
    unfold square. rewrite Sum_list_prod. rewrite <- (Rmult_1_r (INR (length cols))). apply columns_sum. intros c.
    eapply Rle_trans; [|apply (one_cell_of_a_column (code x c))]. apply Sum_le. intros b _.
    unfold counts. rewrite !Sum_app. simpl. destruct (same (code x c) b); nra.
  Qed.

  Theorem histogram_columns_replace l x y r :
    square (list_prod cols cells) (fun z => counts (l ++ x :: r) z - counts (l ++ y :: r) z) <= INR (length cols) * 2.
  Proof.
    unfold square. rewrite Sum_list_prod. apply columns_sum. intros c.
    apply Rle_trans with (Sum cells (fun b => (if same (code x c) b then 1 else 0) + (if same (code y c) b then 1 else 0))).
    - apply Sum_le. intros b _. unfold counts. rewrite !Sum_app. simpl.
      destruct (same (code x c) b), (same (code y c) b); simpl; nra.
    - rewrite Sum_plus. pose proof (one_cell_of_a_column (code x c)). pose proof (one_cell_of_a_column (code y c)). lra.
  Qed.
End Columns.

(** * Scores of pairs: the sum over cells of |sum of residuals in the cell| *)
Section Pairs.
  Context {Row Cell : Type} (cells : list Cell) (same : Cell -> Cell -> bool) (cell : Row -> Cell) (residual : Row -> R) (R0 : R).
  Hypothesis same_eq : forall a b, same a b = true <-> a = b.
  Hypothesis cells_once : NoDup cells.
  Hypothesis residual_bound : forall x, Rabs (residual x) <= R0.

  Definition in_cell (rows : list Row) (b : Cell) : R := Sum rows (fun x => if same (cell x) b then residual x else 0).
  Definition pair_score (rows : list Row) : R := Sum cells (fun b => Rabs (in_cell rows b)).

  Theorem pair_score_add l x r : - R0 <= pair_score (l ++ x :: r) - pair_score (l ++ r) <= R0.
  Proof.
    assert (H : Rabs (pair_score (l ++ x :: r) - pair_score (l ++ r)) <= R0).
    { unfold pair_score. rewrite <- Sum_minus.
      apply Rle_trans with (Sum cells (fun b => Rabs (residual x) * (if same (cell x) b then 1 else 0))).
      - assert (G : forall m (f g : Cell -> R), (forall b, Rabs (f b) <= g b) -> Rabs (Sum m f) <= Sum m g).
        { clear. intros m f g H. induction m as [|b m IH]; simpl; [rewrite Rabs_R0; lra|].
          eapply Rle_trans; [apply Rabs_triang|]. specialize (H b). lra. }
        apply G. intros b. eapply Rle_trans; [apply Rabs_triang_inv2|].
        unfold in_cell. rewrite !Sum_app. simpl.
        match goal with |- Rabs ?v <= _ => replace v with (if same (cell x) b then residual x else 0) by ring end.
        destruct (same (cell x) b); [lra|rewrite Rabs_R0; lra].
      - rewrite Sum_scal. pose proof (unit_sum same same_eq (cell x) cells cells_once) as U.
        unfold unit_at in U. pose proof (residual_bound x). pose proof (Rabs_pos (residual x)).
        assert (0 <= Sum cells (fun b => if same (cell x) b then 1 else 0)).
        { apply Sum_nonneg. intros b _. destruct (same (cell x) b); lra. } nra. }
    pose proof (Rle_abs (pair_score (l ++ x :: r) - pair_score (l ++ r))) as A.
    pose proof (Rle_abs (- (pair_score (l ++ x :: r) - pair_score (l ++ r)))) as B. rewrite Rabs_Ropp in B. lra.
  Qed.

  Theorem pair_score_replace l x y r : - (2 * R0) <= pair_score (l ++ x :: r) - pair_score (l ++ y :: r) <= 2 * R0.
  Proof. pose proof (pair_score_add l x r). pose proof (pair_score_add l y r). lra. Qed.
End Pairs.

(** Pairs and "none", whose score is public: all changes lie in [-2 R0, 2 R0] under replace and in [-R0, R0] under
    add-remove, so that a draw has the ranges of [Exponential]. *)
Theorem pairs_with_none {Pair} (change : Pair -> R) b (o : option Pair) :
  0 <= b -> (forall p, - b <= change p <= b) ->
  - b <= match o with Some p => change p | None => 0 end <= b.
Proof. intros B H. destruct o; [apply H|lra]. Qed.

(** * A release that is hidden with probability m: m + (1 - m) G *)
Theorem hidden_or_private {X} (dom : list X) (P Q : X -> R) E m G :
  0 <= m <= 1 -> (forall x, 0 <= Q x) ->
  (exists A B B' : X -> R, law dom A /\ (forall x, 0 <= B x) /\ private dom E G B B' /\
     (forall x, P x = m * A x + (1 - m) * B x) /\ (forall x, (1 - m) * B' x <= Q x)) ->
  private dom E (m + (1 - m) * G) P Q.
Proof.
  intros [M0 M1] Q0 [A [B [B' [[A0 A1] [B0 [H [HP HQ]]]]]]]. unfold private, hockey in *.
  apply Rle_trans with (Sum dom (fun x => m * A x + (1 - m) * Rmax 0 (B x - exp E * B' x))).
  - apply Sum_le. intros x _. rewrite HP.
    pose proof (pos_ge (B x - exp E * B' x)) as P1. pose proof (pos_nonneg (B x - exp E * B' x)) as P2.
    specialize (A0 x). specialize (HQ x). pose proof (exp_pos E).
    apply pos_le; [apply Rplus_le_le_0_compat; apply Rmult_le_pos; lra|].
    assert (exp E * ((1 - m) * B' x) <= exp E * Q x) by (apply Rmult_le_compat_l; lra).
    assert ((1 - m) * (B x - exp E * B' x) <= (1 - m) * Rmax 0 (B x - exp E * B' x)) by (apply Rmult_le_compat_l; lra). lra.
  - rewrite Sum_plus, !Sum_scal, A1. assert ((1 - m) * Sum dom (fun x => Rmax 0 (B x - exp E * B' x)) <= (1 - m) * G)
      by (apply Rmult_le_compat_l; lra). lra.
Qed.
