(** AboveThreshold: a noisy threshold, paid once, and noisy tests up to the first positive one.

    The noises are laws on the integers with the two properties that dpfast.mechanisms.above_threshold names and no
    other: w(z) <= e^e1 w(z + 1) for the threshold, and P(X >= g) <= P(X >= g - 1) <= e^r P(X >= g) for a test
    (r = 1 / s).  An outcome's probability is an infinite sum over the threshold's noise: the least upper bound of its
    finite parts. *)
From Coq Require Import Reals Lra List Psatz Lia ZArith.
From Dpfast Require Import Sums Privacy.
Import ListNotations.
Open Scope R_scope.

(** The integers from -n to n. *)
Fixpoint window (n : nat) : list Z :=
  match n with
  | O => [0%Z]
  | S m => (- Z.of_nat n)%Z :: window m ++ [Z.of_nat n]
  end.

(** [series f p]: the sum of f >= 0 over all integers is p. *)
Definition series (f : Z -> R) (p : R) : Prop := is_lub (fun x => exists n, x = Sum (window n) f) p.

Lemma series_le f g k p q : 0 <= k ->
  (forall n, exists m, Sum (window n) f <= k * Sum (window m) g) -> series f p -> series g q -> p <= k * q.
Proof.
  intros K H [_ P] [Q _]. apply P. intros x [n ->]. destruct (H n) as [m M].
  apply Rle_trans with (1 := M). apply Rmult_le_compat_l; auto. apply Q. exists m; auto.
Qed.

(** A window, moved up by one, lies in the next. *)
Lemma window_up n (f : Z -> R) :
  Sum (window n) (fun z => f (z + 1)%Z) + f (- Z.of_nat n)%Z + f (- Z.of_nat (S n))%Z = Sum (window (S n)) f.
Proof.
  induction n as [|n IH].
  - simpl. ring.
  - change (window (S (S n))) with ((- Z.of_nat (S (S n)))%Z :: window (S n) ++ [Z.of_nat (S (S n))]).
    cbn [Sum]. rewrite Sum_app, <- IH.
    change (window (S n)) with ((- Z.of_nat (S n))%Z :: window n ++ [Z.of_nat (S n)]).
    cbn [Sum]. rewrite Sum_app. cbn [Sum].
    replace (- Z.of_nat (S n) + 1)%Z with (- Z.of_nat n)%Z by lia.
    replace (Z.of_nat (S n) + 1)%Z with (Z.of_nat (S (S n))) by lia. ring.
Qed.

Section AboveThreshold.
  Variable w : Z -> R.        (* the law of the threshold's noise *)
  Variable above : Z -> R.    (* P(X >= g), X the noise of one test *)
  Variables e1 r : R.
  Variable threshold : Z.
  Hypothesis w_nonneg : forall z, 0 <= w z.
  Hypothesis w_up : forall z, w z <= exp e1 * w (z + 1)%Z.
  Hypothesis above_nonneg : forall g, 0 <= above g.
  Hypothesis above_le_1 : forall g, above g <= 1.
  Hypothesis above_down : forall g, above (g + 1)%Z <= above g.
  Hypothesis above_up : forall g, above g <= exp r * above (g + 1)%Z.

  Lemma above_antitone g h : (g <= h)%Z -> above h <= above g.
  Proof.
    intros H. replace h with (g + Z.of_nat (Z.to_nat (h - g)))%Z by lia.
    induction (Z.to_nat (h - g)) as [|n IH]; [rewrite Z.add_0_r; lra|].
    eapply Rle_trans; [|apply IH]. replace (g + Z.of_nat (S n))%Z with (g + Z.of_nat n + 1)%Z by lia. apply above_down.
  Qed.

  Lemma r_cases : 0 <= r \/ forall g, above g = 0.
  Proof.
    destruct (Rle_dec 0 r); [auto|right]. intros g. pose proof (above_up g). pose proof (above_down g).
    assert (exp r < 1) by (rewrite <- exp_0; apply exp_increasing; lra).
    pose proof (above_nonneg g). pose proof (exp_pos r). nra.
  Qed.

  Lemma above_by_1 g h : (g <= h <= g + 1)%Z -> above g <= exp r * above h.
  Proof.
    intros [A B]. destruct r_cases as [R|R]; [|rewrite !R; lra].
    assert (h = g \/ h = g + 1)%Z as [->| ->] by lia; auto.
    pose proof (exp_ge_1 r R). pose proof (above_nonneg g). nra.
  Qed.

  Lemma above_by_2 g h : (g <= h <= g + 2)%Z -> above g <= exp (2 * r) * above h.
  Proof.
    intros [A B]. replace (2 * r) with (r + r) by ring. rewrite exp_plus.
    pose proof (above_by_1 g (g + 1) ltac:(lia)). pose proof (exp_pos r).
    destruct (Z.eq_dec h g) as [->|N].
    - destruct r_cases as [R|R]; [|rewrite !R; lra]. pose proof (exp_ge_1 r R). pose proof (above_nonneg g).
      assert (1 <= exp r * exp r) by nra. nra.
    - pose proof (above_by_1 (g + 1) h ltac:(lia)) as K. rewrite Rmult_assoc.
      apply Rle_trans with (exp r * above (g + 1)%Z); [auto|]. apply Rmult_le_compat_l; lra.
  Qed.

  (** Tests 0, ..., n - 1 negative, given the threshold's noise z. *)
  Fixpoint negative (q : nat -> Z) (z : Z) (n : nat) : R :=
    match n with
    | O => 1
    | S n => negative q z n * (1 - above (threshold + z - q n))
    end.

  (** The outcome: test n is the first positive one, or none of n tests is. *)
  Inductive outcome := First (n : nat) | Never (n : nat).

  Definition given (q : nat -> Z) (o : outcome) (z : Z) : R :=
    match o with
    | First n => negative q z n * above (threshold + z - q n)
    | Never n => negative q z n
    end.

  Definition probability q o p : Prop := series (fun z => w z * given q o z) p.

  Lemma negative_nonneg q z n : 0 <= negative q z n.
  Proof. induction n; simpl; [lra|]. apply Rmult_le_pos; auto. pose proof (above_le_1 (threshold + z - q n)). lra. Qed.

  Lemma given_nonneg q o z : 0 <= given q o z.
  Proof. destruct o; simpl; [apply Rmult_le_pos; auto|]; apply negative_nonneg. Qed.

  Lemma negative_le q q' z z' n :
    (forall i, (i < n)%nat -> (threshold + z' - q' i <= threshold + z - q i)%Z) ->
    negative q' z' n <= negative q z n.
  Proof.
    induction n as [|n IH]; intros H; simpl; [lra|].
    assert (above (threshold + z - q n) <= above (threshold + z' - q' n)) by (apply above_antitone, H; lia).
    apply Rmult_le_compat; [apply negative_nonneg| |apply IH; intros; apply H; lia|lra].
    pose proof (above_le_1 (threshold + z' - q' n)). lra.
  Qed.

  (** With a shift of the threshold by one, and without. *)
  Lemma shifted q q' o k p p' : 
    (forall z, given q o z <= exp k * given q' o (z + 1)%Z) ->
    probability q o p -> probability q' o p' -> p <= exp (e1 + k) * p'.
  Proof.
    intros H. apply series_le; [left; apply exp_pos|]. intros n. exists (S n).
    assert (N : forall z, 0 <= w z * given q' o z) by (intros; apply Rmult_le_pos; auto using given_nonneg).
    pose proof (window_up n (fun z => w z * given q' o z)) as W.
    pose proof (N (- Z.of_nat n)%Z). pose proof (N (- Z.of_nat (S n))%Z).
    apply Rle_trans with (exp (e1 + k) * Sum (window n) (fun z => w (z + 1)%Z * given q' o (z + 1)%Z)).
    - rewrite <- Sum_scal. apply Sum_le. intros z _. rewrite exp_plus.
      pose proof (H z). pose proof (w_up z). pose proof (given_nonneg q o z). pose proof (w_nonneg z).
      replace (exp e1 * exp k * (w (z + 1)%Z * given q' o (z + 1)%Z))
        with ((exp e1 * w (z + 1)%Z) * (exp k * given q' o (z + 1)%Z)) by ring.
      apply Rmult_le_compat; auto.
    - apply Rmult_le_compat_l; [left; apply exp_pos|]. lra.
  Qed.

  Lemma unshifted q q' o k p p' :
    (forall z, given q o z <= exp k * given q' o z) ->
    probability q o p -> probability q' o p' -> p <= exp k * p'.
  Proof.
    intros H. apply series_le; [left; apply exp_pos|]. intros n. exists n.
    rewrite <- Sum_scal. apply Sum_le. intros z _. pose proof (H z). pose proof (w_nonneg z). nra.
  Qed.

  (** Any queries of sensitivity 1: tests of scale s with r = 1 / s = e2 / 2 make e1 + e2 = e1 + 2 r. *)
  Theorem above_threshold_any q q' o p p' :
    (0 <= r) -> (forall i, (Z.abs (q i - q' i) <= 1)%Z) ->
    probability q o p -> probability q' o p' -> p <= exp (e1 + 2 * r) * p'.
  Proof.
    intros R H. apply shifted. intros z.
    assert (N : forall n, negative q z n <= negative q' (z + 1) n).
    { intros n. apply negative_le. intros i _. specialize (H i). lia. }
    destruct o as [n|n]; simpl.
    - rewrite <- Rmult_assoc, (Rmult_comm (exp (2 * r))), Rmult_assoc.
      apply Rmult_le_compat; auto using negative_nonneg. apply above_by_2. specialize (H n). lia.
    - pose proof (N n). pose proof (negative_nonneg q z n). pose proof (exp_ge_1 (2 * r)). nra.
  Qed.

  (** Monotone queries: e1 + r, in both directions. *)
  Theorem above_threshold_monotone q q' o p p' :
    0 <= e1 -> 0 <= r -> (forall i, (q i <= q' i <= q i + 1)%Z) ->
    probability q o p -> probability q' o p' -> p <= exp (e1 + r) * p' /\ p' <= exp (e1 + r) * p.
  Proof.
    intros HE R H P P'. split.
    - revert P P'. apply shifted. intros z.
      assert (N : forall n, negative q z n <= negative q' (z + 1) n).
      { intros n. apply negative_le. intros i _. specialize (H i). lia. }
      destruct o as [n|n]; simpl.
      + rewrite <- Rmult_assoc, (Rmult_comm (exp r)), Rmult_assoc.
        apply Rmult_le_compat; auto using negative_nonneg. apply above_by_1. specialize (H n). lia.
      + pose proof (N n). pose proof (negative_nonneg q z n). pose proof (exp_ge_1 r R). nra.
    - apply Rle_trans with (exp r * p).
      + revert P' P. apply unshifted. intros z.
        assert (N : forall n, negative q' z n <= negative q z n).
        { intros n. apply negative_le. intros i _. specialize (H i). lia. }
        destruct o as [n|n]; simpl.
        * rewrite <- Rmult_assoc, (Rmult_comm (exp r)), Rmult_assoc.
          apply Rmult_le_compat; auto using negative_nonneg. apply above_by_1. specialize (H n). lia.
        * pose proof (N n). pose proof (negative_nonneg q' z n). pose proof (exp_ge_1 r R). nra.
      + assert (0 <= p).
        { destruct P as [U _]. apply Rle_trans with (Sum (window 0) (fun z => w z * given q o z)).
          - apply Sum_nonneg. intros; apply Rmult_le_pos; auto using given_nonneg.
          - apply U. exists O; auto. }
        apply Rmult_le_compat_r; auto. apply exp_le. lra.
  Qed.

  (** A running count: the change is 0 before test j and one from there on.  max(e1, r): both noises may use it all. *)
  Theorem above_threshold_running q q' j o p p' :
    0 <= e1 -> 0 <= r ->
    (forall i, (i < j)%nat -> q' i = q i) -> (forall i, (j <= i)%nat -> q' i = (q i + 1)%Z) ->
    probability q o p -> probability q' o p' -> p <= exp e1 * p' /\ p' <= exp r * p.
  Proof.
    intros HE R H0 H1 P P'.
    assert (H : forall i, (q i <= q' i <= q i + 1)%Z).
    { intros i. destruct (lt_dec i j); [rewrite H0 by auto|rewrite H1 by lia]; lia. }
    assert (N : forall z n, negative q z n <= negative q' (z + 1) n).
    { intros z n. apply negative_le. intros i _. specialize (H i). lia. }
    split.
    - destruct o as [n|n]; [destruct (lt_dec n j) as [B|B]|].
      + (* the change comes later: the same law *)
        assert (S : forall z, given q (First n) z <= exp 0 * given q' (First n) z).
        { intros z. rewrite exp_0, Rmult_1_l. simpl. rewrite H0 by auto.
          apply Rmult_le_compat_r; auto. apply negative_le. intros i I. rewrite H0 by lia. lia. }
        pose proof (unshifted q q' (First n) 0 p p' S P P') as V. rewrite exp_0, Rmult_1_l in V.
        assert (0 <= p').
        { destruct P' as [U _]. apply Rle_trans with (Sum (window 0) (fun z => w z * given q' (First n) z)).
          - apply Sum_nonneg. intros; apply Rmult_le_pos; auto using given_nonneg.
          - apply U. exists O; auto. }
        pose proof (exp_ge_1 e1 HE). nra.
      + replace e1 with (e1 + 0) by ring. revert P P'. apply shifted. intros z. rewrite exp_0, Rmult_1_l. simpl.
        rewrite H1 by lia. replace (threshold + (z + 1) - (q n + 1))%Z with (threshold + z - q n)%Z by lia.
        apply Rmult_le_compat_r; auto.
      + replace e1 with (e1 + 0) by ring. revert P P'. apply shifted. intros z. rewrite exp_0, Rmult_1_l. simpl. auto.
    - revert P' P. apply unshifted. intros z.
      assert (N' : forall n, negative q' z n <= negative q z n).
      { intros n. apply negative_le. intros i _. specialize (H i). lia. }
      destruct o as [n|n]; simpl.
      + rewrite <- Rmult_assoc, (Rmult_comm (exp r)), Rmult_assoc.
        apply Rmult_le_compat; auto using negative_nonneg. apply above_by_1. specialize (H n). lia.
      + pose proof (N' n). pose proof (negative_nonneg q' z n). pose proof (exp_ge_1 r R). nra.
  Qed.
End AboveThreshold.

(** * Paid once

    Many runs, one after the other, each chosen with all earlier outcomes in view; along every path the differing row
    enters at most one of them ([differs] says which).  All of them together cost what one costs. *)
Section Once.
  Context {X : Type} (M N : list X -> X -> R) (differs : list X -> bool) (e : R).
  Hypothesis e_nonneg : 0 <= e.
  Hypothesis N_nonneg : forall h x, 0 <= N h x.
  Hypothesis M_nonneg : forall h x, 0 <= M h x.
  Hypothesis alike : forall h, differs h = false -> forall x, M h x = N h x.
  Hypothesis pure : forall h x, M h x <= exp e * N h x.
  Hypothesis once : forall h, differs h = true -> forall x r, differs (r ++ x :: h) = false.

  Lemma after_it h w : (forall r, differs (r ++ h) = false) -> run_law M h w = run_law N h w.
  Proof.
    revert h. induction w as [|x w IH]; intros h H; simpl; [auto|].
    rewrite alike by apply (H []). f_equal. apply IH. intros r. specialize (H (r ++ [x])).
    rewrite <- app_assoc in H. exact H.
  Qed.

  Theorem threshold_paid_once w : forall h, run_law M h w <= exp e * run_law N h w.
  Proof.
    induction w as [|x w IH]; intros h; simpl.
    - pose proof (exp_ge_1 e e_nonneg). lra.
    - destruct (differs h) eqn:D.
      + rewrite (after_it (x :: h) w) by (apply once; auto). rewrite <- Rmult_assoc.
        apply Rmult_le_compat_r; [apply run_law_nonneg; auto|apply pure].
      + rewrite alike by auto. pose proof (IH (x :: h)). pose proof (N_nonneg h x). nra.
  Qed.
End Once.
