(** Winnow as a whole (dpfast.accounting.papers.winnow): draws of features and tests of intervals, in any order that what was
    published decides.

    A step is a test, whose outcome says when its interval ends, or a draw of a feature by the scores so far.  The round in
    which two streams differ lies in one interval: [sees] says of a test that it is this interval's.  From its end on the
    scores of the two streams differ by the same vector, times the weight of the interval, as long as the interval is in
    the scores: [touched] says so of a draw. *)
From Coq Require Import Reals Lra List Psatz Lia.
From Dpfast Require Import Sums Privacy Exponential Concentrated Numbers Plans.
Import ListNotations.
Open Scope R_scope.

(** m draws in a release, and a weight with at most K releases that count: the tests are paid once. *)
Definition winnow_total (eta width : R) (m K : R) (e : R) : R := draws_rho eta width (m * K) + e * e / 2.

(** * Steps whose outcomes depend on the past *)
Section Steps.
  Context {X : Type} (dom : list X -> list X) (M N : list X -> X -> R).

  Fixpoint paths (T : nat) (h : list X) : list (list X) :=
    match T with O => [[]] | S T => flat_map (fun x => map (cons x) (paths T (x :: h))) (dom h) end.

  (** The sum, the number and the truth of something along a path. *)
  Fixpoint path_sum (g : list X -> R) (h w : list X) : R :=
    match w with [] => 0 | x :: w => g h + path_sum g (x :: h) w end.

  Fixpoint times (b : list X -> bool) (h w : list X) : nat :=
    match w with [] => O | x :: w => ((if b h then 1 else 0) + times b (x :: h) w)%nat end.

  Fixpoint along (P : list X -> Prop) (h w : list X) : Prop :=
    match w with [] => True | x :: w => P h /\ along P (x :: h) w end.

  Hypothesis M_pos : forall h x, 0 < M h x.
  Hypothesis N_pos : forall h x, 0 < N h x.

  Lemma steps_pos (K : list X -> X -> R) : (forall h x, 0 < K h x) -> forall w h, 0 < run_law K h w.
  Proof. intros HK w. induction w as [|x w IH]; simpl; intros h; [lra|]. apply Rmult_lt_0_compat; auto. Qed.

  Theorem zcdp_of_steps (cost : list X -> R) : (forall h, zcdp (dom h) (cost h) (M h) (N h)) ->
    forall T h B, (forall w, In w (paths T h) -> path_sum cost h w <= B) -> zcdp (paths T h) B (run_law M h) (run_law N h).
  Proof.
    intros C. induction T as [|T IH]; intros h B H a Ha; unfold moment; simpl.
    - replace (1 / 1) with 1 by field. rewrite ln_1, Rmult_0_r, exp_0. specialize (H [] (or_introl eq_refl)). simpl in H.
      assert (0 <= a * (a - 1) * B) by (apply Rmult_le_pos; [apply Rmult_le_pos; lra|auto]).
      pose proof (exp_ge_1 _ H0). lra.
    - rewrite Sum_flat_map.
      apply Rle_trans with (Sum (dom h) (fun x => N h x * exp (a * ln (M h x / N h x)) * exp (a * (a - 1) * (B - cost h)))).
      + apply Sum_le. intros x I. rewrite Sum_map.
        rewrite (Sum_ext _ _ (fun w => N h x * exp (a * ln (M h x / N h x)) *
          (run_law N (x :: h) w * exp (a * ln (run_law M (x :: h) w / run_law N (x :: h) w))))).
        * rewrite Sum_scal. apply Rmult_le_compat_l; [apply Rmult_le_pos; [left; auto|left; apply exp_pos]|].
          apply (IH (x :: h) (B - cost h)); auto. intros w W. specialize (H (x :: w)). simpl in H.
          assert (In (x :: w) (flat_map (fun x => map (cons x) (paths T (x :: h))) (dom h))).
          { apply in_flat_map. exists x. split; [auto|]. apply in_map. auto. }
          specialize (H H0). lra.
        * intros w _. simpl. pose proof (steps_pos M M_pos w (x :: h)). pose proof (steps_pos N N_pos w (x :: h)).
          pose proof (M_pos h x). pose proof (N_pos h x).
          replace (M h x * run_law M (x :: h) w / (N h x * run_law N (x :: h) w)) with
            ((M h x / N h x) * (run_law M (x :: h) w / run_law N (x :: h) w)) by (field; lra).
          rewrite ln_mult by (apply Rdiv_lt_0_compat; auto). rewrite Rmult_plus_distr_l, exp_plus. ring.
      + rewrite Sum_scal_r. pose proof (C h a Ha) as D. unfold moment in D.
        replace (a * (a - 1) * B) with (a * (a - 1) * cost h + a * (a - 1) * (B - cost h)) by ring.
        rewrite exp_plus. apply Rmult_le_compat_r; [left; apply exp_pos|auto].
  Qed.

  Lemma path_sum_plus f g w : forall h, path_sum (fun h => f h + g h) h w = path_sum f h w + path_sum g h w.
  Proof. induction w as [|x w IH]; simpl; intros h; [ring|]. rewrite IH. ring. Qed.

  Lemma path_sum_none g w : forall h, (forall r, g (r ++ h) = 0) -> path_sum g h w = 0.
  Proof.
    induction w as [|x w IH]; simpl; intros h H; [auto|]. pose proof (H []) as Z. simpl in Z. rewrite Z, IH; [ring|].
    intros r. specialize (H (r ++ [x])). rewrite <- app_assoc in H. exact H.
  Qed.

  (** What happens once along every path is paid once. *)
  Lemma path_sum_once (b : list X -> bool) c w : 0 <= c ->
    (forall h, b h = true -> forall x r, b (r ++ x :: h) = false) ->
    forall h, path_sum (fun h => if b h then c else 0) h w <= c.
  Proof.
    intros C H. induction w as [|x w IH]; simpl; intros h; [auto|]. destruct (b h) eqn:E.
    - rewrite path_sum_none; [lra|]. intros r. rewrite (H h E x r). auto.
    - specialize (IH (x :: h)). lra.
  Qed.

  Lemma path_sum_times (b : list X -> bool) (g : list X -> R) c w : 0 <= c ->
    forall h, along (fun h => g h <= (if b h then c else 0)) h w -> path_sum g h w <= INR (times b h w) * c.
  Proof.
    intros C. induction w as [|x w IH]; simpl; intros h; [lra|]. intros [G A]. specialize (IH (x :: h) A).
    rewrite plus_INR. destruct (b h); simpl; lra.
  Qed.
End Steps.

(** * The run *)
Section Run.
  Context {Outcome Feature : Type} (outcomes : list Outcome) (features : list Feature).
  Definition published : Type := list (Outcome + Feature).
  Variable is_test : published -> bool.
  Variables MT NT : published -> Outcome -> R.  (* the tests of two streams *)
  Variables q q' : published -> Feature -> R.  (* their scores *)
  Variables eta width e : R.
  Variables sees touched : published -> bool.
  Variable interval : published -> nat.  (* where the streams differ, once it is published *)
  Variable weight : nat -> R.
  Variable releases : nat -> nat.  (* how many releases an interval is in the scores of *)
  Variables m K : nat.

  Hypothesis MT_law : forall h, law outcomes (MT h).
  Hypothesis NT_law : forall h, law outcomes (NT h).
  Hypothesis MT_pos : forall h x, 0 < MT h x.
  Hypothesis NT_pos : forall h x, 0 < NT h x.
  Hypothesis features_some : features <> [].
  Hypothesis eta_nonneg : 0 <= eta.
  Hypothesis width_nonneg : 0 <= width.
  Hypothesis e_nonneg : 0 <= e.
  Hypothesis weight_nonneg : forall k, 0 <= weight k.

  (** A test is e-DP where it sees the differing round, and the same where it does not; one interval holds the round. *)
  Hypothesis test_pure : forall h, sees h = true -> private outcomes e 0 (MT h) (NT h) /\ private outcomes e 0 (NT h) (MT h).
  Hypothesis test_alike : forall h, sees h = false -> forall x, MT h x = NT h x.
  Hypothesis sees_once : forall h, sees h = true -> forall x r, sees (r ++ x :: h) = false.

  (** Scores differ by the weight of the interval times a vector whose entries lie in a range of this width
      ([Plans.winnow_width_of_features]). *)
  Definition moved (h : published) : R := if touched h then weight (interval h) else 0.
  Hypothesis scores_apart : forall h, exists low, forall f, In f features -> low <= q' h f - q h f <= low + moved h * width.

  Definition steps (h : published) : list (Outcome + Feature) :=
    if is_test h then map inl outcomes else map inr features.

  Definition law_of (tests : published -> Outcome -> R) (scores : published -> Feature -> R) (h : published)
      (x : Outcome + Feature) : R :=
    match x with inl o => tests h o | inr f => exponential features (fun _ => 1) eta (scores h) f end.

  (** Along every path the draws of at most n_k releases, m in each, see an interval k that is the same for all. *)
  Variable T : nat.
  Hypothesis of_one_interval : forall w, In w (paths steps T []) -> exists k,
    along (fun h => touched h = true -> interval h = k) [] w /\
    (times (fun h => negb (is_test h) && touched h)%bool [] w <= m * releases k)%nat.
  Hypothesis weights_pay : forall k, weight k * weight k * INR (releases k) <= INR K.

  Definition test_cost (h : published) : R := if (is_test h && sees h)%bool then e * e / 2 else 0.
  Definition draw_cost (h : published) : R :=
    if is_test h then 0 else eta * (moved h * width) * (eta * (moved h * width)) / 8.

  Lemma moved_nonneg h : 0 <= moved h.
  Proof. unfold moved. destruct (touched h); [auto|lra]. Qed.

  Lemma step_costs h : zcdp (steps h) (test_cost h + draw_cost h) (law_of MT q' h) (law_of NT q h).
  Proof.
    intros a Ha. unfold steps, test_cost, draw_cost. destruct (is_test h); simpl; unfold moment; rewrite Sum_map; simpl.
    - rewrite Rplus_0_r. destruct (sees h) eqn:S.
      + destruct (test_pure h S) as [P P']. apply (pure_zcdp outcomes (MT h) (NT h) e); auto.
      + rewrite (Sum_ext outcomes _ (NT h)).
        * destruct (NT_law h) as [_ ->]. rewrite Rmult_0_r, exp_0. lra.
        * intros x _. rewrite test_alike by auto. unfold Rdiv. rewrite Rinv_r; [rewrite ln_1, Rmult_0_r, exp_0; ring|].
          specialize (NT_pos h x). lra.
    - rewrite Rplus_0_l. destruct (scores_apart h) as [low L]. pose proof (moved_nonneg h) as P.
      pose proof (exponential_zcdp features (fun _ => 1) (q h) (q' h) eta low (low + moved h * width) features_some
        (fun _ => Rlt_0_1) eta_nonneg ltac:(nra) L) as Z.
      replace (low + moved h * width - low) with (moved h * width) in Z by ring. apply Z; auto.
  Qed.

  Lemma law_of_pos tests scores h x : (forall h o, 0 < tests h o) -> 0 < law_of tests scores h x.
  Proof. intros H. destruct x; simpl; [auto|]. apply exponential_pos; auto. intros; lra. Qed.

  Theorem winnow_zcdp :
    zcdp (paths steps T []) (winnow_total eta width (INR m) (INR K) e)
      (run_law (law_of MT q') []) (run_law (law_of NT q) []).
  Proof.
    apply zcdp_of_steps with (cost := fun h => test_cost h + draw_cost h).
    - intros; apply law_of_pos; auto.
    - intros; apply law_of_pos; auto.
    - apply step_costs.
    - intros w W. rewrite (path_sum_plus test_cost draw_cost). unfold winnow_total, draws_rho. rewrite Rplus_comm. apply Rplus_le_compat.
      + destruct (of_one_interval w W) as [k [A C]]. set (c := eta * (weight k * width) * (eta * (weight k * width)) / 8).
        assert (C0 : 0 <= c).
        { unfold c. pose proof (Rle_0_sqr (eta * (weight k * width))) as S. unfold Rsqr in S. lra. }
        eapply Rle_trans; [apply (path_sum_times (fun h => negb (is_test h) && touched h)%bool draw_cost c w C0)|].
        * clear W C. revert A. generalize (@nil (Outcome + Feature)) as h. induction w as [|x w IH]; simpl; intros h; [auto|].
          intros [B A]. split; [|apply IH; auto]. unfold draw_cost, moved.
          destruct (is_test h); simpl; [lra|]. destruct (touched h).
          -- rewrite B by auto. unfold c. lra.
          -- rewrite Rmult_0_l, Rmult_0_r. lra.
        * apply le_INR in C. rewrite mult_INR in C. specialize (weights_pay k).
          apply Rle_trans with (INR m * INR (releases k) * c); [apply Rmult_le_compat_r; auto|].
          unfold c. pose proof (pos_INR m). pose proof (Rle_0_sqr (eta * width)) as S. unfold Rsqr in S.
          replace (INR m * INR (releases k) * (eta * (weight k * width) * (eta * (weight k * width)) / 8))
            with (INR m * (eta * width * (eta * width)) / 8 * (weight k * weight k * INR (releases k))) by field.
          replace (eta * width * (eta * width) * (INR m * INR K) / 8) with (INR m * (eta * width * (eta * width)) / 8 * INR K)
            by field.
          apply Rmult_le_compat_l; [|auto]. assert (0 <= INR m * (eta * width * (eta * width))) by (apply Rmult_le_pos; auto). lra.
      + unfold test_cost. apply (path_sum_once (fun h => is_test h && sees h)%bool).
        * nra.
        * intros h H x r. apply Bool.andb_true_iff in H. destruct H as [_ H]. rewrite (sees_once h H x r).
          apply Bool.andb_false_r.
  Qed.

  (** The claim, for whatever is computed from what was published. *)
  Theorem winnow_private E delta : 0 < delta -> zcdp_fits (winnow_total eta width (INR m) (INR K) e) E delta ->
    private (paths steps T []) E delta (run_law (law_of MT q') []) (run_law (law_of NT q) []).
  Proof.
    intros D [b [B F]]. unfold private.
    assert (Pos : forall tests scores, (forall h o, 0 < tests h o) -> forall w, 0 < run_law (law_of tests scores) [] w).
    { intros tests scores H w. apply steps_pos. intros; apply law_of_pos; auto. }
    eapply Rle_trans; [|rewrite <- (exp_ln delta D); apply exp_le; exact F].
    apply (zcdp_conversion (paths steps T []) _ E b (run_law (law_of MT q') []) (run_law (law_of NT q) [])); auto.
    apply winnow_zcdp.
  Qed.
End Run.

(** * The three ways to weigh intervals *)

Theorem equal_weights_pay K k : 1 * 1 * INR (K - k) <= INR K.
Proof. rewrite !Rmult_1_l. apply le_INR. lia. Qed.

Theorem a_window_pays K : 1 * 1 * INR K <= INR K.
Proof. lra. Qed.

Theorem rising_weights_pay c k K grid : (k <= K)%nat -> 0 < grid -> weight_fits c (INR k) (INR K) grid ->
  c / grid * (c / grid) * INR (K - k) <= INR K.
Proof.
  intros L G [W _]. rewrite minus_INR by auto. apply Rmult_le_reg_r with (grid * grid); [nra|].
  replace (c / grid * (c / grid) * (INR K - INR k) * (grid * grid)) with (c * c * (INR K - INR k)) by (field; lra). lra.
Qed.
