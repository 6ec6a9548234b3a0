(** The exponential mechanism: candidates with a public mass, scores that neighbours move by a range. *)
From Coq Require Import Reals Lra List Psatz.
From Dpfast Require Import Sums Privacy.
Import ListNotations.
Open Scope R_scope.

Section Exponential.
  Context {C : Type} (l : list C) (mass : C -> R) (t : R).
  Hypothesis l_some : l <> [].
  Hypothesis mass_pos : forall c, 0 < mass c.
  Hypothesis t_nonneg : 0 <= t.

  Definition exponential_weight (q : C -> R) c : R := mass c * exp (t * q c).
  Definition exponential (q : C -> R) c : R := exponential_weight q c / Sum l (exponential_weight q).

  Lemma exponential_weight_pos q c : 0 < exponential_weight q c.
  Proof. apply Rmult_lt_0_compat; [auto|apply exp_pos]. Qed.

  Lemma exponential_total_pos q : 0 < Sum l (exponential_weight q).
  Proof. apply Sum_pos; auto. intros; apply exponential_weight_pos. Qed.

  Lemma exponential_pos q c : 0 < exponential q c.
  Proof. apply Rdiv_lt_0_compat; [apply exponential_weight_pos|apply exponential_total_pos]. Qed.

  Lemma exponential_law q : law l (exponential q).
  Proof.
    split; [intros; left; apply exponential_pos|].
    unfold exponential, Rdiv. rewrite Sum_scal_r. apply Rinv_r. pose proof (exponential_total_pos q). lra.
  Qed.

  (** The logarithm of the ratio lies in one interval of length t (b - a), whatever a and b are. *)
  Theorem exponential_bounded_range q q' a b :
    (forall c, In c l -> a <= q' c - q c <= b) ->
    exists low, forall c, In c l ->
      exp low * exponential q c <= exponential q' c <= exp (low + t * (b - a)) * exponential q c.
  Proof.
    intros H. set (Z := Sum l (exponential_weight q)). set (Z' := Sum l (exponential_weight q')).
    assert (Z0 : 0 < Z) by apply exponential_total_pos. assert (Z0' : 0 < Z') by apply exponential_total_pos.
    exists (t * a + ln (Z / Z')). intros c I. destruct (H c I) as [A B].
    assert (L : exp (ln (Z / Z')) = Z / Z') by (apply exp_ln, Rdiv_lt_0_compat; auto).
    assert (E : exponential q' c = exp (t * (q' c - q c)) * (Z / Z') * exponential q c).
    { unfold exponential. fold Z Z'. unfold exponential_weight.
      replace (t * q' c) with (t * (q' c - q c) + t * q c) by ring. rewrite exp_plus. field. lra. }
    pose proof (exponential_pos q c) as P0.
    assert (R0 : 0 < Z / Z') by (apply Rdiv_lt_0_compat; auto). split.
    - rewrite E, exp_plus, L. apply Rmult_le_compat_r; [lra|]. apply Rmult_le_compat_r; [lra|].
      apply exp_le. nra.
    - rewrite E. replace (t * a + ln (Z / Z') + t * (b - a)) with (t * b + ln (Z / Z')) by ring.
      rewrite exp_plus, L. apply Rmult_le_compat_r; [lra|]. apply Rmult_le_compat_r; [lra|].
      apply exp_le. nra.
  Qed.

  (** One draw is t (b - a)-DP. *)
  Theorem exponential_ratio q q' a b :
    (forall c, In c l -> a <= q' c - q c <= b) ->
    forall c, In c l -> exponential q' c <= exp (t * (b - a)) * exponential q c.
  Proof.
    intros H c I. destruct (H c I) as [_ B].
    assert (Z0 : 0 < Sum l (exponential_weight q)) by apply exponential_total_pos.
    assert (Z0' : 0 < Sum l (exponential_weight q')) by apply exponential_total_pos.
    assert (W : forall c, exponential_weight q' c = exp (t * (q' c - q c)) * exponential_weight q c).
    { intros x. unfold exponential_weight.
      replace (t * q' x) with (t * (q' x - q x) + t * q x) by ring. rewrite exp_plus. ring. }
    assert (T : exp (t * a) * Sum l (exponential_weight q) <= Sum l (exponential_weight q')).
    { rewrite <- Sum_scal. apply Sum_le. intros x J. rewrite W. destruct (H x J).
      apply Rmult_le_compat_r; [left; apply exponential_weight_pos|]. apply exp_le. nra. }
    unfold exponential. rewrite W.
    apply Rmult_le_reg_r with (Sum l (exponential_weight q')); auto.
    unfold Rdiv. rewrite (Rmult_assoc _ (/ Sum l (exponential_weight q'))), Rinv_l, Rmult_1_r by lra.
    pose proof (exponential_weight_pos q c) as P.
    apply Rle_trans with (exp (t * (b - a)) * (exponential_weight q c * / Sum l (exponential_weight q)) *
                          (exp (t * a) * Sum l (exponential_weight q))).
    - replace (exp (t * (b - a)) * (exponential_weight q c * / Sum l (exponential_weight q)) *
               (exp (t * a) * Sum l (exponential_weight q)))
        with (exp (t * (b - a)) * exp (t * a) * exponential_weight q c) by (field; lra).
      rewrite <- exp_plus. apply Rmult_le_compat_r; [lra|]. apply exp_le. nra.
    - apply Rmult_le_compat_l; auto. apply Rmult_le_pos; [left; apply exp_pos|].
      apply Rmult_le_pos; [lra|]. left; apply Rinv_0_lt_compat; auto.
  Qed.

  Theorem exponential_private q q' a b :
    (forall c, In c l -> a <= q' c - q c <= b) ->
    private l (t * (b - a)) 0 (exponential q') (exponential q) /\
    private l (t * (b - a)) 0 (exponential q) (exponential q').
  Proof.
    intros H. split; apply private_pure; [apply exponential_ratio; auto|].
    replace (b - a) with (- a - - b) by ring. apply exponential_ratio. intros c I. specialize (H c I). lra.
  Qed.

  (** Scores that are sums over the rows: a row adds between low and high to each of them. *)
  Section Rows.
    Context {Row : Type} (adds : C -> Row -> R) (low high : R).
    Hypothesis adds_bounds : forall c x, low <= adds c x <= high.

    Definition exponential_of_rows (rows : list Row) : C -> R := exponential (fun c => Sum rows (adds c)).

    (** Adding a row moves the scores by a range of high - low. *)
    Theorem exponential_add_remove : dp add_remove l (t * (high - low)) 0 exponential_of_rows.
    Proof.
      intros x y [r z s|r z s].
      - apply (fun H => proj2 (exponential_private (fun c => Sum (r ++ s) (adds c)) _ low high H)).
        intros c _. rewrite !Sum_app. simpl. specialize (adds_bounds c z). lra.
      - apply (fun H => proj1 (exponential_private (fun c => Sum (r ++ s) (adds c)) _ low high H)).
        intros c _. rewrite !Sum_app. simpl. specialize (adds_bounds c z). lra.
    Qed.

    (** Replacing one moves them by a range of 2 (high - low). *)
    Theorem exponential_replace : dp replace l (2 * t * (high - low)) 0 exponential_of_rows.
    Proof.
      intros x y [r z z' s]. replace (2 * t * (high - low)) with (t * ((high - low) - (low - high))) by ring.
      apply exponential_private. intros c _. rewrite !Sum_app. simpl.
      pose proof (adds_bounds c z). pose proof (adds_bounds c z'). lra.
    Qed.
  End Rows.
End Exponential.

(** m draws, or any adaptive sequence of draws: m times as much. *)
Theorem exponential_draws {C} (l : list C) (M N : list C -> C -> R) E :
  (forall h, law l (M h)) -> (forall h c, 0 <= N h c) -> (forall h, private l E 0 (M h) (N h)) ->
  forall m h, private (runs l m h) (INR m * E) 0 (run_law M h) (run_law N h).
Proof.
  intros HM HN H m h. pose proof (rounds_composition l M N HM HN E 0 (Rle_refl 0) H m h) as R.
  rewrite Rmult_0_r in R. exact R.
Qed.
