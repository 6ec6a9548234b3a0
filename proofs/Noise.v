(** Discrete Laplace and geometric noise on integers, exactly. *)
From Coq Require Import Reals Lra List Psatz Lia ZArith.
From Dpfast Require Import Sums Privacy Threshold.
Import ListNotations.
Open Scope R_scope.

(** * Discrete Laplace: P(x) proportional to exp(-|x| / b), b = 1 / a *)

Definition laplace_weight (a : R) (x : Z) : R := exp (- (a * IZR (Z.abs x))).

(** The normaliser is (1 + r) / (1 - r), r = e^-a: what a window holds tends to it. *)
Lemma laplace_window a n :
  (1 - exp (- a)) * Sum (window n) (laplace_weight a) = 1 + exp (- a) - 2 * exp (- a) ^ S n.
Proof.
  induction n as [|n IH].
  - unfold laplace_weight. simpl. rewrite Rmult_0_r, Ropp_0, exp_0. ring.
  - change (window (S n)) with ((- Z.of_nat (S n))%Z :: window n ++ [Z.of_nat (S n)]). cbn [Sum].
    rewrite Sum_app. cbn [Sum].
    assert (W : forall z, Z.abs z = Z.of_nat (S n) -> laplace_weight a z = exp (- a) ^ S n).
    { intros z H. unfold laplace_weight. rewrite H, <- INR_IZR_INZ, exp_pow. f_equal. ring. }
    rewrite (W (- Z.of_nat (S n))%Z), (W (Z.of_nat (S n))) by lia.
    rewrite !Rmult_plus_distr_l, IH. simpl. ring.
Qed.

Definition laplace (a : R) (x : Z) : R := (1 - exp (- a)) / (1 + exp (- a)) * laplace_weight a x.

Lemma laplace_pos a x : 0 < a -> 0 < laplace a x.
Proof.
  intros A. assert (exp (- a) < 1) by (rewrite <- exp_0; apply exp_increasing; lra). pose proof (exp_pos (- a)).
  apply Rmult_lt_0_compat; [apply Rdiv_lt_0_compat; lra|apply exp_pos].
Qed.

Theorem laplace_is_a_law a : 0 < a -> series (laplace a) 1.
Proof.
  intros A. assert (R1 : exp (- a) < 1) by (rewrite <- exp_0; apply exp_increasing; lra).
  pose proof (exp_pos (- a)) as R0. set (r := exp (- a)) in *.
  assert (W : forall n, Sum (window n) (laplace a) = 1 - 2 * r ^ S n / (1 + r)).
  { intros n. unfold laplace. rewrite Sum_scal. fold r.
    replace ((1 - r) / (1 + r) * Sum (window n) (laplace_weight a))
      with ((1 - r) * Sum (window n) (laplace_weight a) / (1 + r)) by (field; lra).
    unfold r at 1. rewrite laplace_window. fold r. field. lra. }
  split.
  - intros x [n ->]. rewrite W. assert (0 <= 2 * r ^ S n / (1 + r)); [|lra].
    apply Rmult_le_pos; [|left; apply Rinv_0_lt_compat; lra]. pose proof (pow_le r (S n) (Rlt_le _ _ R0)). lra.
  - intros b Hb. apply Rnot_lt_le. intros L.
    destruct (pow_lt_1_zero r ltac:(rewrite Rabs_right; lra) ((1 - b) / 4) ltac:(lra)) as [n Hn].
    specialize (Hn (S n) ltac:(lia)). rewrite Rabs_right in Hn by (apply Rle_ge, pow_le; lra).
    assert (C : Sum (window n) (laplace a) <= b) by (apply Hb; exists n; auto). rewrite W in C.
    assert (2 * r ^ S n / (1 + r) <= 2 * r ^ S n).
    { apply Rmult_le_reg_r with (1 + r); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra.
      pose proof (pow_le r (S n) (Rlt_le _ _ R0)). nra. }
    lra.
Qed.

(** Counts of sensitivity s, on any number of cells, in the sum of absolute changes: s a = s / b. *)
Section Cells.
  Context {J : Type} (cells : list J) (a : R).
  Hypothesis a_pos : 0 < a.

  Fixpoint Product (l : list J) (f : J -> R) : R := match l with [] => 1 | j :: l => f j * Product l f end.

  (** The law of counts c plus noise, at x. *)
  Definition laplace_counts (c x : J -> Z) : R := Product cells (fun j => laplace a (x j - c j)%Z).

  Fixpoint distance (l : list J) (c c' : J -> Z) : Z :=
    match l with [] => 0 | j :: l => Z.abs (c j - c' j) + distance l c c' end%Z.

  Lemma laplace_shift x y : laplace a x <= exp (a * IZR (Z.abs (x - y))) * laplace a y.
  Proof.
    unfold laplace. assert (0 < (1 - exp (- a)) / (1 + exp (- a))).
    { assert (exp (- a) < 1) by (rewrite <- exp_0; apply exp_increasing; lra). pose proof (exp_pos (- a)).
      apply Rdiv_lt_0_compat; lra. }
    replace (exp (a * IZR (Z.abs (x - y))) * ((1 - exp (- a)) / (1 + exp (- a)) * laplace_weight a y))
      with ((1 - exp (- a)) / (1 + exp (- a)) * (exp (a * IZR (Z.abs (x - y))) * laplace_weight a y)) by ring.
    apply Rmult_le_compat_l; [lra|]. unfold laplace_weight. rewrite <- exp_plus. apply exp_le.
    assert (IZR (Z.abs y) <= IZR (Z.abs x) + IZR (Z.abs (x - y))) by (rewrite <- plus_IZR; apply IZR_le; lia). nra.
  Qed.

  Theorem laplace_pure c c' s x :
    (distance cells c c' <= s)%Z -> laplace_counts c x <= exp (a * IZR s) * laplace_counts c' x.
  Proof.
    intros H. apply Rle_trans with (exp (a * IZR (distance cells c c')) * laplace_counts c' x).
    2:{ apply Rmult_le_compat_r.
        - unfold laplace_counts. clear H. induction cells as [|j l IH]; simpl; [lra|].
          apply Rmult_le_pos; auto. left; apply laplace_pos; auto.
        - apply exp_le. apply Rmult_le_compat_l; [lra|]. apply IZR_le; auto. }
    clear H. unfold laplace_counts. induction cells as [|j l IH]; simpl.
    - rewrite Rmult_0_r, exp_0. lra.
    - rewrite plus_IZR, Rmult_plus_distr_l, exp_plus.
      pose proof (laplace_shift (x j - c j) (x j - c' j)) as S.
      replace (x j - c j - (x j - c' j))%Z with (- (c j - c' j))%Z in S by lia. rewrite Z.abs_opp in S.
      assert (P : forall c, 0 <= Product l (fun j => laplace a (x j - c j)%Z)).
      { clear - a_pos. intros c. induction l as [|j l IH]; simpl; [lra|]. apply Rmult_le_pos; auto.
        left; apply laplace_pos; auto. }
      apply Rle_trans with (exp (a * IZR (Z.abs (c j - c' j))) * laplace a (x j - c' j) *
        (exp (a * IZR (distance l c c')) * Product l (fun j => laplace a (x j - c' j)%Z))); [|apply Req_le; ring].
      apply Rmult_le_compat; auto. left; apply laplace_pos; auto.
  Qed.
End Cells.

(** Every row is in one cell: a histogram moves by one where a row is added, by two where one is replaced. *)
Section Histogram.
  Context {Row J : Type} (cells : list J) (same : J -> J -> bool) (cell : Row -> J).
  Hypothesis same_eq : forall i j, same i j = true <-> i = j.
  Hypothesis cells_once : NoDup cells.

  Fixpoint histogram (rows : list Row) (j : J) : Z :=
    match rows with [] => 0 | x :: r => (if same (cell x) j then 1 else 0) + histogram r j end%Z.

  Lemma histogram_app l r j : histogram (l ++ r) j = (histogram l j + histogram r j)%Z.
  Proof. induction l as [|x l IH]; simpl; [auto|]. rewrite IH. lia. Qed.

  Lemma one_cell x l : NoDup l -> (distance l (fun j => if same (cell x) j then 1 else 0) (fun _ => 0) <= 1)%Z.
  Proof.
    induction 1 as [|j l I N IH]; simpl; [lia|]. destruct (same (cell x) j) eqn:E; [|lia].
    apply same_eq in E. subst j.
    assert (Z0 : distance l (fun j => if same (cell x) j then 1 else 0)%Z (fun _ => 0%Z) = 0%Z); [|lia].
    clear N IH. induction l as [|j l IH]; simpl; [auto|]. destruct (same (cell x) j) eqn:E.
    - apply same_eq in E. subst j. exfalso. apply I. left; auto.
    - rewrite IH; [lia|]. intros K. apply I. right; auto.
  Qed.

  Lemma distance_le l (c c' d d' : J -> Z) (e e' : J -> Z) :
    (forall j, c j - c' j = (d j - d' j) + (e j - e' j))%Z -> (distance l c c' <= distance l d d' + distance l e e')%Z.
  Proof. intros H. induction l as [|j l IH]; simpl; [lia|]. rewrite H. lia. Qed.

  Lemma distance_sym l (c c' : J -> Z) : distance l c c' = distance l c' c.
  Proof. induction l as [|j l IH]; simpl; [auto|]. rewrite IH. lia. Qed.

  Theorem histogram_add l x r : (distance cells (histogram (l ++ x :: r)) (histogram (l ++ r)) <= 1)%Z.
  Proof.
    eapply Z.le_trans; [|apply (one_cell x cells cells_once)].
    assert (Q : forall m (c c' d d' : J -> Z), (forall j, c j - c' j = d j - d' j)%Z -> (distance m c c' <= distance m d d')%Z).
    { clear. intros m c c' d d' H. induction m as [|j m IH]; simpl; [lia|]. rewrite H. lia. }
    apply Q. intros j. rewrite !histogram_app. simpl. lia.
  Qed.

  Theorem histogram_replace l x y r : (distance cells (histogram (l ++ x :: r)) (histogram (l ++ y :: r)) <= 2)%Z.
  Proof.
    pose proof (histogram_add l x r). pose proof (histogram_add l y r) as H'. rewrite distance_sym in H'.
    pose proof (distance_le cells (histogram (l ++ x :: r)) (histogram (l ++ y :: r))
      (histogram (l ++ x :: r)) (histogram (l ++ r)) (histogram (l ++ r)) (histogram (l ++ y :: r))) as D.
    assert (forall j, histogram (l ++ x :: r) j - histogram (l ++ y :: r) j =
      histogram (l ++ x :: r) j - histogram (l ++ r) j + (histogram (l ++ r) j - histogram (l ++ y :: r) j))%Z by (intros; lia).
    specialize (D H0). lia.
  Qed.
End Histogram.

(** * The noises of AboveThreshold have the two properties that it needs *)

Theorem laplace_threshold e1 z : 0 < e1 -> laplace e1 z <= exp e1 * laplace e1 (z + 1)%Z.
Proof.
  intros H. pose proof (laplace_shift e1 H z (z + 1)) as S.
  replace (z - (z + 1))%Z with (-1)%Z in S by lia. simpl in S. rewrite Rmult_1_r in S. exact S.
Qed.

(** One-sided: P(Z = z) proportional to exp(-a z) for z >= 0. *)
Definition geometric (a : R) (z : Z) : R := if Z_lt_dec z 0 then 0 else (1 - exp (- a)) * exp (- (a * IZR z)).

(** P(X >= g). *)
Definition geometric_above (a : R) (g : Z) : R := if Z_lt_dec g 0 then 1 else exp (- (a * IZR g)).

Theorem geometric_threshold a z : 0 < a -> 0 <= geometric a z /\ geometric a z <= exp a * geometric a (z + 1)%Z.
Proof.
  intros A. assert (exp (- a) < 1) by (rewrite <- exp_0; apply exp_increasing; lra).
  assert (G : forall z, 0 <= geometric a z).
  { intros y. unfold geometric. destruct (Z_lt_dec y 0); [lra|]. apply Rmult_le_pos; [lra|left; apply exp_pos]. }
  split; [auto|]. unfold geometric at 1. destruct (Z_lt_dec z 0).
  - apply Rmult_le_pos; [left; apply exp_pos|auto].
  - unfold geometric. destruct (Z_lt_dec (z + 1) 0); [lia|].
    rewrite <- Rmult_assoc, (Rmult_comm (exp a)), Rmult_assoc, <- exp_plus, plus_IZR.
    apply Req_le. do 2 f_equal. ring.
Qed.

Theorem geometric_test a g : 0 < a ->
  0 <= geometric_above a g <= 1 /\
  geometric_above a (g + 1)%Z <= geometric_above a g <= exp a * geometric_above a (g + 1)%Z.
Proof.
  intros A.
  assert (L : forall g, (0 <= g)%Z -> exp (- (a * IZR g)) <= 1).
  { intros y H. apply exp_le_1. apply IZR_le in H. nra. }
  assert (B : forall g, 0 <= geometric_above a g <= 1).
  { intros y. unfold geometric_above. destruct (Z_lt_dec y 0); [lra|]. split; [left; apply exp_pos|apply L; lia]. }
  split; [auto|]. unfold geometric_above. destruct (Z_lt_dec (g + 1) 0), (Z_lt_dec g 0); try lia.
  - pose proof (exp_ge_1 a). lra.
  - assert (g = -1)%Z by lia. subst g. simpl (-1 + 1)%Z. rewrite Rmult_0_r, Ropp_0, exp_0. pose proof (exp_ge_1 a). lra.
  - rewrite plus_IZR, <- exp_plus. split; apply exp_le; lra.
Qed.

(** The tail of [geometric] is [geometric_above]. *)
Theorem geometric_tail a g : 0 < a -> geometric a g = geometric_above a g - geometric_above a (g + 1)%Z.
Proof.
  intros A. unfold geometric, geometric_above. destruct (Z_lt_dec g 0), (Z_lt_dec (g + 1) 0); try lia.
  - lra.
  - assert (g = -1)%Z by lia. subst g. simpl (-1 + 1)%Z. rewrite Rmult_0_r, Ropp_0, exp_0. lra.
  - rewrite plus_IZR. replace (- (a * (IZR g + 1))) with (- (a * IZR g) + - a) by ring. rewrite exp_plus. ring.
Qed.

(** Discrete Laplace's tail. *)
Definition laplace_above (a : R) (g : Z) : R :=
  if Z_lt_dec g 1 then 1 - exp (- (a * IZR (1 - g))) / (1 + exp (- a)) else exp (- (a * IZR g)) / (1 + exp (- a)).

Theorem laplace_tail a g : 0 < a -> laplace a g = laplace_above a g - laplace_above a (g + 1)%Z.
Proof.
  intros A. pose proof (exp_pos (- a)). unfold laplace, laplace_above, laplace_weight.
  destruct (Z_lt_dec g 1), (Z_lt_dec (g + 1) 1); try lia.
  - replace (Z.abs g) with (- g)%Z by lia. replace (1 - (g + 1))%Z with (- g)%Z by lia.
    replace (- (a * IZR (1 - g))) with (- a + - (a * IZR (- g))) by (rewrite minus_IZR, opp_IZR; ring).
    rewrite exp_plus. field. lra.
  - assert (g = 0)%Z by lia. subst g. simpl. rewrite Rmult_0_r, Ropp_0, exp_0, !Rmult_1_r. field. lra.
  - replace (Z.abs g) with g by lia. rewrite plus_IZR.
    replace (- (a * (IZR g + 1))) with (- (a * IZR g) + - a) by ring. rewrite exp_plus. field. lra.
Qed.

Theorem laplace_test a g : 0 < a ->
  0 <= laplace_above a g <= 1 /\ laplace_above a (g + 1)%Z <= laplace_above a g <= exp a * laplace_above a (g + 1)%Z.
Proof.
  intros A. pose proof (exp_pos (- a)) as R0.
  assert (R1 : exp (- a) < 1) by (rewrite <- exp_0; apply exp_increasing; lra).
  assert (I : 0 < / (1 + exp (- a)) <= 1).
  { split; [apply Rinv_0_lt_compat; lra|]. rewrite <- Rinv_1. apply Rinv_le_contravar; lra. }
  assert (E1 := exp_ge_1 a (Rlt_le _ _ A)). assert (EE := exp_neg a).
  assert (L : forall g, (0 <= g)%Z -> 0 < exp (- (a * IZR g)) <= 1).
  { intros y H. split; [apply exp_pos|]. apply exp_le_1. apply IZR_le in H. nra. }
  assert (B : forall g, 0 <= laplace_above a g <= 1).
  { intros y. unfold laplace_above, Rdiv. destruct (Z_lt_dec y 1).
    - pose proof (L (1 - y)%Z ltac:(lia)). nra.
    - pose proof (L y ltac:(lia)). nra. }
  split; [auto|]. pose proof (laplace_tail a g A) as T. pose proof (laplace_pos a g A). split; [lra|].
  unfold laplace_above. destruct (Z_lt_dec g 1), (Z_lt_dec (g + 1) 1); try lia.
  - replace (- (a * IZR (1 - g))) with (- a + - (a * IZR (1 - (g + 1)))).
    2:{ rewrite !minus_IZR, plus_IZR. ring. }
    rewrite exp_plus. destruct (L (1 - (g + 1))%Z ltac:(lia)) as [X0 X1]. set (x := exp (- (a * IZR (1 - (g + 1))))) in *.
    unfold Rdiv. set (i := / (1 + exp (- a))) in *.
    assert (IV : i * (1 + exp (- a)) = 1) by (unfold i; field; lra).
    (* e^a - 1 >= i x (e^a - e^-a), as i (e^a - e^-a) = e^a - 1 *)
    assert (K : i * (exp a - exp (- a)) = exp a - 1).
    { apply Rmult_eq_reg_r with (1 + exp (- a)); [|lra].
      replace (i * (exp a - exp (- a)) * (1 + exp (- a))) with ((i * (1 + exp (- a))) * (exp a - exp (- a))) by ring.
      rewrite IV. lra. }
    assert (x * (i * (exp a - exp (- a))) <= 1 * (exp a - 1)); [rewrite K; nra|]. nra.
  - assert (g = 0)%Z by lia. subst g. simpl. rewrite ?Rmult_1_r. apply Req_le.
    replace (exp a * (exp (- a) / (1 + exp (- a)))) with ((exp (- a) * exp a) / (1 + exp (- a))) by (field; lra).
    rewrite EE. field. lra.
  - rewrite plus_IZR. replace (- (a * (IZR g + 1))) with (- (a * IZR g) + - a) by ring. rewrite exp_plus.
    apply Req_le. replace (exp a * (exp (- (a * IZR g)) * exp (- a) / (1 + exp (- a))))
      with (exp (- (a * IZR g)) / (1 + exp (- a)) * (exp (- a) * exp a)) by (field; lra).
    rewrite EE. ring.
Qed.
