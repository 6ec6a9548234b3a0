(** How far one row moves a statistic: sums of vectors, residuals, weighted rows, histograms, scores of pairs.

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

(** * One of a list: 1 where [same] says so, 0 elsewhere *)
Definition unit_at {K} (same : K -> K -> bool) (a b : K) : R := if same a b then 1 else 0.

Lemma unit_sum {K} (same : K -> K -> bool) (same_eq : forall a b, same a b = true <-> a = b) a l :
  NoDup l -> Sum l (unit_at same a) <= 1.
Proof.
  induction 1 as [|b l I N IH]; simpl; [lra|]. unfold unit_at at 1. destruct (same a b) eqn:E; [|lra].
  apply same_eq in E. subst b. rewrite Sum_zero; [lra|]. intros b J. unfold unit_at.
  destruct (same a b) eqn:E; [|auto]. apply same_eq in E. subst b. contradiction.
Qed.

(** * What a row adds in a round of the logistic learner (dpfast.learners.halfspaces.halfspace, csrc/logistic.h)

    A row has an image q and a limit A with A |q| <= reach.  Its residual is an integer of absolute value at most A, or,
    of k classes, one for each: s of its own and - P_b of every other, with 0 <= P_b and s = sum of P_b <= A.  The row
    adds image times residual. *)
Section Residuals.
  Context {J : Type} (coords : list J).

  Theorem residual_of_two_classes (q : J -> R) e A reach :
    Rabs e <= A -> A * norm coords q <= reach -> norm coords (fun j => e * q j) <= reach.
  Proof. intros E Q. rewrite norm_scal. pose proof (norm_nonneg coords q). nra. Qed.

  (** [None] is the row's own class. *)
  Context {K : Type} (others : list K).

  Definition residual (P : K -> R) (c : option K) : R :=
    match c with None => Sum others P | Some b => - P b end.

  Lemma square_outer {C} (classes : list C) (q : J -> R) (p : C -> R) :
    square (list_prod coords classes) (fun z => q (fst z) * p (snd z)) = square coords q * square classes p.
  Proof.
    unfold square. rewrite Sum_list_prod. simpl. rewrite <- Sum_scal_r. apply Sum_ext. intros j _.
    rewrite <- Sum_scal. apply Sum_ext. intros; ring.
  Qed.

  Lemma squares_of_parts (l : list K) (P : K -> R) :
    (forall b, 0 <= P b) -> Sum l (fun b => P b * P b) <= Sum l P * Sum l P.
  Proof.
    intros P0. induction l as [|b l IH]; simpl; [lra|].
    pose proof (Sum_nonneg l P (fun b _ => P0 b)). pose proof (P0 b). nra.
  Qed.

  Lemma residual_square (P : K -> R) A :
    (forall b, 0 <= P b) -> Sum others P <= A -> square (None :: map Some others) (residual P) <= 2 * (A * A).
  Proof.
    intros P0 S. unfold square. simpl. rewrite Sum_map. simpl.
    rewrite (Sum_ext _ (fun b => - P b * - P b) (fun b => P b * P b)) by (intros; ring).
    pose proof (squares_of_parts others P P0). pose proof (Sum_nonneg others P (fun b _ => P0 b)). nra.
  Qed.

  Theorem residual_of_classes (q : J -> R) (P : K -> R) A reach :
    (forall b, 0 <= P b) -> Sum others P <= A -> A * norm coords q <= reach ->
    norm (list_prod coords (None :: map Some others)) (fun z => q (fst z) * residual P (snd z)) <= sqrt 2 * reach.
  Proof.
    intros P0 S Q. pose proof (sqrt_pos 2) as T. pose proof (norm_nonneg coords q) as N.
    assert (A0 : 0 <= A) by (eapply Rle_trans; [apply (Sum_nonneg others P (fun b _ => P0 b))|auto]).
    assert (R0 : 0 <= reach) by (eapply Rle_trans; [apply (Rmult_le_pos A _ A0 N)|auto]).
    apply norm_le; [apply Rmult_le_pos; auto|]. rewrite square_outer.
    replace (sqrt 2 * reach * (sqrt 2 * reach)) with ((sqrt 2 * sqrt 2) * (reach * reach)) by ring.
    rewrite sqrt_sqrt by lra. pose proof (residual_square P A P0 S) as H. rewrite <- norm_square.
    assert (M : A * norm coords q * (A * norm coords q) <= reach * reach).
    { pose proof (Rmult_le_pos A _ A0 N). nra. }
    apply Rle_trans with (norm coords q * norm coords q * (2 * (A * A))).
    - apply Rmult_le_compat_l; [nra|auto].
    - nra.
  Qed.

  (** How the kernel cuts the sizes of the other classes, one after another, to what is left of the limit. *)
  Fixpoint held (sizes : list R) (left : R) : list R :=
    match sizes with
    | [] => []
    | size :: rest => Rmin size left :: held rest (left - Rmin size left)
    end.

  Theorem held_within_limit sizes left :
    0 <= left -> (forall size, In size sizes -> 0 <= size) ->
    (forall part, In part (held sizes left) -> 0 <= part) /\ Sum (held sizes left) (fun part => part) <= left.
  Proof.
    revert left. induction sizes as [|size rest IH]; intros left L Z; simpl; [split; [tauto|lra]|].
    assert (M : 0 <= Rmin size left <= left).
    { split; [apply Rmin_glb; [apply Z; left; auto|auto]|apply Rmin_r]. }
    destruct (IH (left - Rmin size left)) as [P S]; [lra|intros; apply Z; right; auto|].
    split; [intros part [<-|I]; [lra|auto]|lra].
  Qed.
End Residuals.

(** The sum of a round: two classes, and k. *)
Theorem logistic_sum_of_two {Row J} (coords : list J) (image : Row -> J -> R) (e limit : Row -> R) reach :
  0 <= reach -> (forall x, Rabs (e x) <= limit x) -> (forall x, limit x * norm coords (image x) <= reach) ->
  let sum := total (fun x j => e x * image x j) in
  (forall l x y s, norm coords (fun j => sum (l ++ x :: s) j - sum (l ++ y :: s) j) <= 2 * reach) /\
  (forall l x s, norm coords (fun j => sum (l ++ x :: s) j - sum (l ++ s) j) <= reach).
Proof.
  intros R0 E I sum. assert (B : forall x, norm coords (fun j => e x * image x j) <= reach).
  { intros x. apply (residual_of_two_classes coords _ _ (limit x)); auto. }
  split; intros; [apply sum_replace|apply sum_add_remove]; auto.
Qed.

(** Rows differ in their class, so classes are numbered, and a residual is what [residual] is up to their order. *)
Theorem logistic_sum_of_classes {Row J K} (coords : list J) (classes : list K) (image : Row -> J -> R)
    (e : Row -> K -> R) (limit : Row -> R) reach :
  0 <= reach -> (forall x, 0 <= limit x) -> (forall x, limit x * norm coords (image x) <= reach) ->
  (forall x, square classes (e x) <= 2 * (limit x * limit x)) ->
  let sum := total (fun x z => image x (fst z) * e x (snd z)) in
  let moved := norm (list_prod coords classes) in
  (forall l x y s, moved (fun z => sum (l ++ x :: s) z - sum (l ++ y :: s) z) <= 2 * (sqrt 2 * reach)) /\
  (forall l x s, moved (fun z => sum (l ++ x :: s) z - sum (l ++ s) z) <= sqrt 2 * reach).
Proof.
  intros R0 L I E sum moved. pose proof (sqrt_pos 2) as T.
  assert (S0 : 0 <= sqrt 2 * reach) by (apply Rmult_le_pos; auto).
  assert (B : forall x, norm (list_prod coords classes) (fun z => image x (fst z) * e x (snd z)) <= sqrt 2 * reach).
  { intros x. apply norm_le; auto. rewrite square_outer.
    replace (sqrt 2 * reach * (sqrt 2 * reach)) with ((sqrt 2 * sqrt 2) * (reach * reach)) by ring.
    rewrite sqrt_sqrt by lra. rewrite <- norm_square. pose proof (norm_nonneg coords (image x)) as N.
    pose proof (L x) as L0. pose proof (I x) as I0. pose proof (Rmult_le_pos _ _ L0 N) as M0.
    assert (M : limit x * norm coords (image x) * (limit x * norm coords (image x)) <= reach * reach) by nra.
    apply Rle_trans with (norm coords (image x) * norm coords (image x) * (2 * (limit x * limit x))).
    - apply Rmult_le_compat_l; [nra|auto].
    - nra. }
  split; intros; [apply sum_replace|apply sum_add_remove]; auto.
Qed.

(** * The opening: a row is in one cell of each column, and in one of the class sizes, which counts it c times *)
Section Opening.
  Context {Row Column Code Class : Type} (columns : list Column) (codes : list Code) (classes : list Class).
  Context (same_code : Code -> Code -> bool) (same_class : Class -> Class -> bool).
  Hypothesis same_code_eq : forall a b, same_code a b = true <-> a = b.
  Hypothesis same_class_eq : forall a b, same_class a b = true <-> a = b.
  Hypothesis codes_once : NoDup codes.
  Hypothesis classes_once : NoDup classes.
  Context (code_of : Row -> Column -> Code) (class_of : Row -> Class) (c : R).

  Definition cells : list (Column * Code + Class) := map inl (list_prod columns codes) ++ map inr classes.

  Definition opening (x : Row) (z : Column * Code + Class) : R :=
    match z with
    | inl (column, code) => if same_code (code_of x column) code then 1 else 0
    | inr class => if same_class (class_of x) class then c else 0
    end.

  Theorem opening_add_remove x : square cells (opening x) <= INR (length columns) + c * c.
  Proof.
    unfold square, cells. rewrite Sum_app, !Sum_map, Sum_list_prod. apply Rplus_le_compat.
    - induction columns as [|column l IH]; [simpl; lra|].
      change (length (column :: l)) with (S (length l)). rewrite S_INR. simpl Sum.
      pose proof (unit_sum same_code same_code_eq (code_of x column) codes codes_once) as H.
      rewrite (Sum_ext codes _ (unit_at same_code (code_of x column))).
      2:{ intros b _. unfold unit_at. simpl. destruct (same_code _ b); ring. }
      simpl in IH. lra.
    - rewrite (Sum_ext _ _ (fun b => unit_at same_class (class_of x) b * (c * c))).
      2:{ intros b _. unfold unit_at. simpl. destruct (same_class _ b); ring. }
      rewrite Sum_scal_r. pose proof (unit_sum same_class same_class_eq (class_of x) classes classes_once) as H.
      pose proof (Rle_0_sqr c) as C. unfold Rsqr in C. nra.
  Qed.

  Theorem opening_replace x y : 0 <= c ->
    square cells (fun z => opening x z - opening y z) <= 2 * (INR (length columns) + c * c).
  Proof.
    intros C. apply Rle_trans with (square cells (opening x) + square cells (opening y)).
    - unfold square. rewrite <- Sum_plus. apply Sum_le. intros z _.
      assert (N : forall x, 0 <= opening x z).
      { intros w. destruct z as [[column code]|class]; simpl; [destruct (same_code _ _)|destruct (same_class _ _)]; lra. }
      pose proof (N x). pose proof (N y). nra.
    - pose proof (opening_add_remove x). pose proof (opening_add_remove y). lra.
  Qed.
End Opening.

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
