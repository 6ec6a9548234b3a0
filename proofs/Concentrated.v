(** Zero-concentrated privacy of positive laws: composition, conversion, and that a bounded range r is r^2/8-zCDP. *)
From Coq Require Import Reals Lra List Psatz Lia.
From Coquelicot Require Import Coquelicot.
From Dpfast Require Import Sums Privacy Exponential.
Import ListNotations.
Open Scope R_scope.

(** E_Q (P / Q)^a. *)
Definition moment {X} (dom : list X) (a : R) (P Q : X -> R) : R := Sum dom (fun x => Q x * exp (a * ln (P x / Q x))).

(** The Renyi divergence of every order a > 1 is at most a rho: (a - 1) D_a = ln (moment a). *)
Definition zcdp {X} (dom : list X) (rho : R) (P Q : X -> R) : Prop :=
  forall a, 1 < a -> moment dom a P Q <= exp (a * (a - 1) * rho).

(** * Composition *)

Theorem zcdp_composition {X Y} (dom : list X) (dom' : list Y) rho rho' P Q (K L : X -> Y -> R) :
  (forall x, 0 < P x) -> (forall x, 0 < Q x) -> (forall x y, 0 < K x y) -> (forall x y, 0 < L x y) ->
  zcdp dom rho P Q -> (forall x, In x dom -> zcdp dom' rho' (K x) (L x)) ->
  zcdp (list_prod dom dom') (rho + rho') (joint P K) (joint Q L).
Proof.
  intros HP HQ HK HL H H' a Ha. unfold moment. rewrite Sum_list_prod. unfold joint; simpl.
  apply Rle_trans with (Sum dom (fun x => Q x * exp (a * ln (P x / Q x)) * exp (a * (a - 1) * rho'))).
  - apply Sum_le. intros x I.
    rewrite (Sum_ext _ _ (fun y => Q x * exp (a * ln (P x / Q x)) * (L x y * exp (a * ln (K x y / L x y))))).
    + rewrite Sum_scal. apply Rmult_le_compat_l; [|apply H'; auto].
      apply Rmult_le_pos; [left; auto|left; apply exp_pos].
    + intros y _. specialize (HP x). specialize (HQ x). specialize (HK x y). specialize (HL x y).
      replace (P x * K x y / (Q x * L x y)) with ((P x / Q x) * (K x y / L x y)) by (field; lra).
      rewrite ln_mult by (apply Rdiv_lt_0_compat; auto). rewrite Rmult_plus_distr_l, exp_plus. ring.
  - rewrite Sum_scal_r. specialize (H a Ha). unfold moment in H.
    rewrite Rmult_plus_distr_l, exp_plus. apply Rmult_le_compat_r; [left; apply exp_pos|auto].
Qed.

(** T adaptive rounds. *)
Theorem zcdp_rounds {X} (dom : list X) (M N : list X -> X -> R) rho :
  (forall h x, 0 < M h x) -> (forall h x, 0 < N h x) -> (forall h, zcdp dom rho (M h) (N h)) ->
  forall T h, zcdp (runs dom T h) (INR T * rho) (run_law M h) (run_law N h).
Proof.
  intros HM HN H T. induction T as [|T IH]; intros h a Ha.
  - unfold moment. simpl. rewrite Rdiv_1, ln_1, !Rmult_0_r, !Rmult_0_l, Rmult_0_r, exp_0. lra.
  - assert (Pos : forall K : list X -> X -> R, (forall h x, 0 < K h x) -> forall w h, 0 < run_law K h w).
    { intros K HK w. induction w as [|x w IHw]; simpl; intros g; [lra|]. apply Rmult_lt_0_compat; auto. }
    unfold moment. simpl runs. rewrite Sum_flat_map.
    apply Rle_trans with (Sum dom (fun x => N h x * exp (a * ln (M h x / N h x)) * exp (a * (a - 1) * (INR T * rho)))).
    + apply Sum_le. intros x _. rewrite Sum_map.
      rewrite (Sum_ext _ _ (fun w => N h x * exp (a * ln (M h x / N h x)) *
        (run_law N (x :: h) w * exp (a * ln (run_law M (x :: h) w / run_law N (x :: h) w))))).
      * rewrite Sum_scal. apply Rmult_le_compat_l; [|apply IH; auto].
        apply Rmult_le_pos; [left; auto|left; apply exp_pos].
      * intros w _. simpl. pose proof (Pos M HM w (x :: h)). pose proof (Pos N HN w (x :: h)).
        specialize (HM h x). specialize (HN h x).
        replace (M h x * run_law M (x :: h) w / (N h x * run_law N (x :: h) w)) with
          ((M h x / N h x) * (run_law M (x :: h) w / run_law N (x :: h) w)) by (field; lra).
        rewrite ln_mult by (apply Rdiv_lt_0_compat; auto). rewrite Rmult_plus_distr_l, exp_plus. ring.
    + rewrite Sum_scal_r. specialize (H h a Ha). unfold moment in H.
      rewrite S_INR. replace (a * (a - 1) * ((INR T + 1) * rho)) with (a * (a - 1) * rho + a * (a - 1) * (INR T * rho)) by ring.
      rewrite exp_plus. apply Rmult_le_compat_r; [left; apply exp_pos|auto].
Qed.

(** * Conversion: (E, delta) with ln delta = b ((1 + b) rho - E) - b ln(1 + 1/b) - ln(1 + b), for any b > 0 *)

Lemma power_above_line b X V : 0 < b ->
  exp X - exp V <= exp ((1 + b) * X - b * V + b * ln b - (1 + b) * ln (1 + b)).
Proof.
  intros B. set (a := 1 + b). assert (A : 0 < a) by (unfold a; lra).
  set (p := a * X - b * V + b * ln b - a * ln a).
  pose proof (exp_convex (/ a) (p + ln a) (V + ln a - ln b)) as C.
  assert (I : 0 <= / a <= 1).
  { split; [left; apply Rinv_0_lt_compat; auto|]. rewrite <- Rinv_1. apply Rinv_le_contravar; unfold a; lra. }
  specialize (C I).
  replace (/ a * (p + ln a) + (1 - / a) * (V + ln a - ln b)) with X in C.
  2:{ unfold p. apply Rmult_eq_reg_l with a; [|lra].
      replace (a * (/ a * (a * X - b * V + b * ln b - a * ln a + ln a) + (1 - / a) * (V + ln a - ln b)))
        with (a * X - b * V + b * ln b - a * ln a + ln a + (a - 1) * (V + ln a - ln b)) by (field; lra).
      replace (a - 1) with b by (unfold a; ring). unfold a. ring. }
  rewrite (exp_plus p), exp_ln in C by auto.
  replace (/ a * (exp p * a)) with (exp p) in C by (field; lra).
  unfold Rminus in C at 2. rewrite 2!exp_plus, exp_ln, exp_Ropp, exp_ln in C by auto.
  replace ((1 - / a) * (exp V * a * / b)) with (exp V) in C.
  2:{ replace (1 - / a) with (b / a) by (unfold a; field; lra). field. lra. }
  lra.
Qed.

Theorem zcdp_conversion {X} (dom : list X) rho E b (P Q : X -> R) :
  (forall x, 0 < P x) -> (forall x, 0 < Q x) -> 0 < b -> zcdp dom rho P Q ->
  private dom E (exp (b * ((1 + b) * rho - E) - b * ln (1 + 1 / b) - ln (1 + b))) P Q.
Proof.
  intros HP HQ B H. specialize (H (1 + b) ltac:(lra)). unfold private, hockey, moment in *.
  set (k := - b * E + b * ln b - (1 + b) * ln (1 + b)).
  apply Rle_trans with (Sum dom (fun x => exp k * (Q x * exp ((1 + b) * ln (P x / Q x))))).
  - apply Sum_le. intros x _. specialize (HP x). specialize (HQ x).
    assert (R0 : 0 < P x / Q x) by (apply Rdiv_lt_0_compat; auto).
    apply pos_le.
    + apply Rmult_le_pos; [left; apply exp_pos|]. apply Rmult_le_pos; [lra|left; apply exp_pos].
    + pose proof (power_above_line b (ln (P x / Q x)) E B) as L. rewrite exp_ln in L by auto.
      replace (P x - exp E * Q x) with (Q x * (P x / Q x - exp E)) by (field; lra).
      replace (exp k * (Q x * exp ((1 + b) * ln (P x / Q x)))) with (Q x * (exp k * exp ((1 + b) * ln (P x / Q x)))) by ring.
      apply Rmult_le_compat_l; [lra|]. rewrite <- exp_plus. eapply Rle_trans; [apply L|].
      apply Req_le. f_equal. unfold k. ring.
  - rewrite Sum_scal. apply Rle_trans with (exp k * exp ((1 + b) * (1 + b - 1) * rho)).
    + apply Rmult_le_compat_l; [left; apply exp_pos|auto].
    + rewrite <- exp_plus. apply Req_le. f_equal. unfold k.
      replace (1 + 1 / b) with ((1 + b) * / b) by (field; lra).
      rewrite ln_mult, ln_Rinv by (auto; try lra; apply Rinv_0_lt_compat; auto). ring.
Qed.

(** * A bounded range: Hoeffding's lemma *)

Lemma exp_bernoulli a s : 1 <= a -> 1 + a * (exp s - 1) <= exp (a * s).
Proof.
  intros A. assert (I : 0 <= / a <= 1).
  { split; [left; apply Rinv_0_lt_compat; lra|]. rewrite <- Rinv_1. apply Rinv_le_contravar; lra. }
  pose proof (exp_convex (/ a) (a * s) 0 I) as C. rewrite exp_0, Rmult_0_r, Rplus_0_r in C.
  replace (/ a * (a * s)) with s in C by (field; lra).
  apply Rmult_le_compat_l with (r := a) in C; [|lra].
  replace (a * (/ a * exp (a * s) + (1 - / a) * 1)) with (exp (a * s) + (a - 1)) in C by (field; lra). lra.
Qed.

(** Below the chord: a power of a number between e^l and e^(l + r). *)
Lemma power_below_chord a l r s : 1 <= a -> l <= s <= l + r -> 0 < r ->
  exp (a * s) * (exp (l + r) - exp l) <=
  (exp (l + r) - exp s) * exp (a * l) + (exp s - exp l) * exp (a * (l + r)).
Proof.
  intros A [S1 S2] Hr.
  (* the tangent at s lies below at both ends *)
  pose proof (exp_bernoulli a (l - s) A) as B1. pose proof (exp_bernoulli a (l + r - s) A) as B2.
  assert (T1 : exp (a * s) * (1 + a * (exp (l - s) - 1)) <= exp (a * l)).
  { replace (a * l) with (a * s + a * (l - s)) by ring. rewrite exp_plus. apply Rmult_le_compat_l; [left; apply exp_pos|auto]. }
  assert (T2 : exp (a * s) * (1 + a * (exp (l + r - s) - 1)) <= exp (a * (l + r))).
  { replace (a * (l + r)) with (a * s + a * (l + r - s)) by ring. rewrite exp_plus. apply Rmult_le_compat_l; [left; apply exp_pos|auto]. }
  pose proof (exp_le _ _ S1) as E1. pose proof (exp_le _ _ S2) as E2.
  apply Rmult_le_compat_l with (r := exp (l + r) - exp s) in T1; [|lra].
  apply Rmult_le_compat_l with (r := exp s - exp l) in T2; [|lra].
  eapply Rle_trans; [|apply Rplus_le_compat; [apply T1|apply T2]].
  assert (Z1 : exp s * exp (l - s) = exp l) by (rewrite <- exp_plus; f_equal; ring).
  assert (Z2 : exp s * exp (l + r - s) = exp (l + r)) by (rewrite <- exp_plus; f_equal; ring).
  apply Req_le. rewrite <- Z1, <- Z2. ring.
Qed.

Section TwoPoints.
  Variables p l r : R.
  Hypothesis p_bounds : 0 <= p <= 1.
  Hypothesis mean_one : (1 - p) * exp l + p * exp (l + r) = 1.

  Let D a := 1 - p + p * exp (r * a).
  Let u a := p * exp (r * a) / D a.
  Let g a := a * (a - 1) * (r * r) / 8 - a * l - ln (D a).
  Let slope a := (2 * a - 1) * (r * r) / 8 - l - r * u a.

  Lemma D_pos a : 0 < D a.
  Proof.
    unfold D. pose proof (exp_pos (r * a)). destruct (Req_dec p 0) as [->|N]; [lra|].
    assert (0 < p * exp (r * a)) by (apply Rmult_lt_0_compat; lra). lra.
  Qed.

  Lemma g_derive a : is_derive g a (slope a).
  Proof.
    pose proof (D_pos a) as P. unfold D in P. unfold g, slope, u, D. auto_derive; [lra|]. field. unfold D. lra.
  Qed.

  Lemma slope_derive a : is_derive slope a (r * r * (1 / 4 - u a * (1 - u a))).
  Proof.
    pose proof (D_pos a) as P. unfold D in P. unfold slope, u, D. auto_derive; [lra|]. field. unfold D. lra.
  Qed.

  Lemma slope_increases a b : a <= b -> slope a <= slope b.
  Proof.
    intros H. destruct (Req_dec a b) as [->|N]; [lra|].
    destruct (MVT_cor2 slope (fun a => r * r * (1 / 4 - u a * (1 - u a))) a b) as [c [E _]]; [lra| |].
    - intros c _. apply is_derive_Reals. apply slope_derive.
    - assert (0 <= r * r * (1 / 4 - u c * (1 - u c))); [|nra].
      pose proof (Rle_0_sqr r) as R2. pose proof (Rle_0_sqr (u c - 1 / 2)) as U2. unfold Rsqr in *.
      apply Rmult_le_pos; lra.
  Qed.

  Lemma g_nonneg a : 1 <= a -> 0 <= g a.
  Proof.
    intros A.
    assert (G0 : g 0 = 0).
    { unfold g, D. rewrite !Rmult_0_r, exp_0. replace (1 - p + p * 1) with 1 by ring. rewrite ln_1. field. }
    assert (G1 : g 1 = 0).
    { unfold g, D. rewrite Rmult_1_r.
      assert (E : 1 - p + p * exp r = exp (- l)).
      { apply Rmult_eq_reg_l with (exp l); [|pose proof (exp_pos l); lra].
        pose proof mean_one as H. rewrite exp_plus in H.
        replace (exp l * exp (- l)) with 1 by (rewrite Rmult_comm, exp_neg; ring). lra. }
      rewrite E, ln_exp. field. }
    destruct (MVT_cor2 g slope 0 1) as [c [E [C0 C1]]]; [lra| |].
    { intros c _. apply is_derive_Reals, g_derive. }
    rewrite G0, G1 in E. destruct (Req_dec a 1) as [->|N]; [lra|].
    destruct (MVT_cor2 g slope 1 a) as [d [E' [D0 D1]]]; [lra| |].
    { intros d _. apply is_derive_Reals, g_derive. }
    pose proof (slope_increases c d ltac:(lra)). rewrite G1 in E'. nra.
  Qed.

  Lemma two_points a : 1 <= a -> (1 - p) * exp (a * l) + p * exp (a * (l + r)) <= exp (a * (a - 1) * (r * r / 8)).
  Proof.
    intros A. pose proof (g_nonneg a A) as G. unfold g in G. pose proof (D_pos a) as P.
    replace ((1 - p) * exp (a * l) + p * exp (a * (l + r))) with (exp (a * l) * D a).
    2:{ unfold D. replace (exp (a * (l + r))) with (exp (a * l) * exp (r * a)) by (rewrite <- exp_plus; f_equal; ring). ring. }
    rewrite <- (exp_ln (D a)) by auto. rewrite <- exp_plus. apply exp_le. lra.
  Qed.
End TwoPoints.

(** Log-ratios in one interval of length r: r^2/8-zCDP. *)
Theorem bounded_range_zcdp {X} (dom : list X) (P Q : X -> R) low r :
  law dom P -> law dom Q -> (forall x, 0 < P x) -> (forall x, 0 < Q x) -> 0 <= r ->
  (forall x, In x dom -> exp low * Q x <= P x <= exp (low + r) * Q x) -> zcdp dom (r * r / 8) P Q.
Proof.
  intros [_ P1] [_ Q1] HP HQ Hr H a Ha. unfold moment.
  assert (L : forall x, In x dom -> low <= ln (P x / Q x) <= low + r).
  { intros x I. destruct (H x I) as [A B]. specialize (HP x). specialize (HQ x).
    assert (R0 : 0 < P x / Q x) by (apply Rdiv_lt_0_compat; auto).
    assert (E : P x = P x / Q x * Q x) by (field; lra).
    split.
    - rewrite <- (ln_exp low). apply ln_le; [apply exp_pos|]. apply Rmult_le_reg_r with (Q x); auto. lra.
    - rewrite <- (ln_exp (low + r)). apply ln_le; auto. apply Rmult_le_reg_r with (Q x); auto. lra. }
  assert (M : Sum dom (fun x => Q x * exp (ln (P x / Q x))) = 1).
  { rewrite <- P1. apply Sum_ext. intros x _. specialize (HP x). specialize (HQ x).
    rewrite exp_ln by (apply Rdiv_lt_0_compat; auto). field. lra. }
  destruct (Req_dec r 0) as [->|R0].
  { assert (Z : low = 0).
    { assert (E : exp low = 1).
      { rewrite <- M, <- (Rmult_1_l (exp low)), <- Q1, <- Sum_scal_r. apply Sum_ext. intros x I.
        specialize (L x I). do 2 f_equal. lra. }
      rewrite <- (ln_exp low), E, ln_1. auto. }
    rewrite (Sum_ext _ _ (fun x => Q x * 1)).
    2:{ intros x I. specialize (L x I). replace (a * ln (P x / Q x)) with 0; [rewrite exp_0; auto|].
        replace (ln (P x / Q x)) with 0 by lra. ring. }
    rewrite Sum_scal_r, Q1. apply Rle_trans with (exp 0); [rewrite exp_0; lra|]. apply exp_le. lra. }
  assert (W : exp low < exp (low + r)) by (apply exp_increasing; lra).
  set (w := exp (low + r) - exp low). assert (W0 : 0 < w) by (unfold w; lra).
  set (p := (1 - exp low) / w).
  assert (Ml : exp low <= 1).
  { rewrite <- M, <- (Rmult_1_l (exp low)), <- Q1, <- Sum_scal_r. apply Sum_le. intros x I.
    apply Rmult_le_compat_l; [left; auto|]. apply exp_le. apply L; auto. }
  assert (Mu : 1 <= exp (low + r)).
  { rewrite <- M at 1. rewrite <- (Rmult_1_l (exp (low + r))), <- Q1, <- Sum_scal_r. apply Sum_le. intros x I.
    apply Rmult_le_compat_l; [left; auto|]. apply exp_le. apply L; auto. }
  assert (Pw : p * w = 1 - exp low) by (unfold p; field; lra).
  assert (Pb : 0 <= p <= 1).
  { split; apply Rmult_le_reg_r with w; auto; rewrite ?Pw; unfold w; lra. }
  eapply Rle_trans; [|apply (two_points p low r Pb)].
  - apply Rmult_le_reg_r with w; auto. rewrite <- Sum_scal_r.
    apply Rle_trans with (Sum dom (fun x => Q x * (exp (low + r) * exp (a * low) - exp low * exp (a * (low + r)))
      + Q x * exp (ln (P x / Q x)) * (exp (a * (low + r)) - exp (a * low)))).
    + apply Sum_le. intros x I.
      pose proof (power_below_chord a low r (ln (P x / Q x)) ltac:(lra) (L x I) ltac:(lra)) as C. fold w in C.
      apply Rmult_le_compat_l with (r := Q x) in C; [|left; auto]. lra.
    + rewrite Sum_plus, !Sum_scal_r, Q1, M.
      rewrite Rmult_plus_distr_r. replace ((1 - p) * exp (a * low) * w) with ((w - p * w) * exp (a * low)) by ring.
      replace (p * exp (a * (low + r)) * w) with (p * w * exp (a * (low + r))) by ring. rewrite Pw. unfold w. lra.
  - replace ((1 - p) * exp low + p * exp (low + r)) with (exp low + p * w) by (unfold w; ring). rewrite Pw. ring.
  - lra.
Qed.

(** One draw by the exponential mechanism is (t (b - a))^2 / 8-zCDP. *)
Theorem exponential_zcdp {C} (l : list C) (mass q q' : C -> R) t a b :
  l <> [] -> (forall c, 0 < mass c) -> 0 <= t -> a <= b -> (forall c, In c l -> a <= q' c - q c <= b) ->
  zcdp l (t * (b - a) * (t * (b - a)) / 8) (exponential l mass t q') (exponential l mass t q).
Proof.
  intros L M T AB H. destruct (exponential_bounded_range l mass t L M T q q' a b H) as [low B].
  apply bounded_range_zcdp with (low := low); auto using exponential_law, exponential_pos.
  apply Rmult_le_pos; lra.
Qed.

(** Anything e-DP in both directions is e^2 / 2-zCDP. *)
Theorem pure_zcdp {X} (dom : list X) (P Q : X -> R) e :
  law dom P -> law dom Q -> (forall x, 0 < P x) -> (forall x, 0 < Q x) -> 0 <= e ->
  private dom e 0 P Q -> private dom e 0 Q P -> zcdp dom (e * e / 2) P Q.
Proof.
  intros LP LQ HP HQ He H H'. replace (e * e / 2) with (2 * e * (2 * e) / 8) by field.
  apply bounded_range_zcdp with (low := - e); auto; [lra|]. intros x I.
  pose proof (proj2 (private_pure dom e P Q) H x I). pose proof (proj2 (private_pure dom e Q P) H' x I) as B.
  replace (- e + 2 * e) with e by ring. split; [|auto].
  apply Rmult_le_compat_l with (r := exp (- e)) in B; [|left; apply exp_pos].
  rewrite <- Rmult_assoc, exp_neg in B. lra.
Qed.

(** m draws whose scores move by a range of R each: (t R)^2 m / 8-zCDP, and (E, delta) by any order. *)
Theorem exponential_draws_private {C} (l : list C) (M N : list C -> C -> R) t width m E b h :
  (forall h, law l (M h)) -> (forall h, law l (N h)) -> (forall h c, 0 < M h c) -> (forall h c, 0 < N h c) ->
  0 <= t * width -> 0 < b ->
  (forall h, exists low, forall c, In c l -> exp low * N h c <= M h c <= exp (low + t * width) * N h c) ->
  private (runs l m h) E
    (exp (b * ((1 + b) * (INR m * (t * width * (t * width) / 8)) - E) - b * ln (1 + 1 / b) - ln (1 + b)))
    (run_law M h) (run_law N h).
Proof.
  intros LM LN HM HN TR B H.
  assert (Pos : forall K : list C -> C -> R, (forall h x, 0 < K h x) -> forall w h, 0 < run_law K h w).
  { intros K HK w. induction w as [|x w IHw]; simpl; intros g; [lra|]. apply Rmult_lt_0_compat; auto. }
  apply zcdp_conversion; auto. apply zcdp_rounds; auto.
  intros g. destruct (H g) as [low L]. apply bounded_range_zcdp with (low := low); auto.
Qed.

(** * Filters: costs that depend on the past

    Round h costs [cost h], a function of the outcomes so far; along every path costs add up to at most B. *)
Section Filter.
  Context {X : Type} (dom : list X) (M N : list X -> X -> R) (cost : list X -> R).
  Hypothesis M_pos : forall h x, 0 < M h x.
  Hypothesis N_pos : forall h x, 0 < N h x.
  Hypothesis round_cost : forall h, zcdp dom (cost h) (M h) (N h).

  Fixpoint within_budget (T : nat) (h : list X) (B : R) : Prop :=
    match T with
    | O => 0 <= B
    | S T => forall x, In x dom -> within_budget T (x :: h) (B - cost h)
    end.

  Theorem zcdp_filter T : forall h B, within_budget T h B -> zcdp (runs dom T h) B (run_law M h) (run_law N h).
  Proof.
    assert (Pos : forall K : list X -> X -> R, (forall h x, 0 < K h x) -> forall w h, 0 < run_law K h w).
    { intros K HK w. induction w as [|x w IHw]; simpl; intros g; [lra|]. apply Rmult_lt_0_compat; auto. }
    induction T as [|T IH]; intros h B H a Ha.
    - unfold moment. simpl in *. rewrite Rdiv_1, ln_1, Rmult_0_r, exp_0.
      assert (0 <= a * (a - 1) * B) by (apply Rmult_le_pos; [apply Rmult_le_pos; lra|auto]).
      pose proof (exp_ge_1 _ H0). lra.
    - unfold moment. simpl runs. simpl in H. rewrite Sum_flat_map.
      apply Rle_trans with (Sum dom (fun x => N h x * exp (a * ln (M h x / N h x)) * exp (a * (a - 1) * (B - cost h)))).
      + apply Sum_le. intros x I. rewrite Sum_map.
        rewrite (Sum_ext _ _ (fun w => N h x * exp (a * ln (M h x / N h x)) *
          (run_law N (x :: h) w * exp (a * ln (run_law M (x :: h) w / run_law N (x :: h) w))))).
        * rewrite Sum_scal. apply Rmult_le_compat_l; [|apply (IH (x :: h) (B - cost h)); auto].
          apply Rmult_le_pos; [left; auto|left; apply exp_pos].
        * intros w _. simpl. pose proof (Pos M M_pos w (x :: h)). pose proof (Pos N N_pos w (x :: h)).
          pose proof (M_pos h x). pose proof (N_pos h x).
          replace (M h x * run_law M (x :: h) w / (N h x * run_law N (x :: h) w)) with
            ((M h x / N h x) * (run_law M (x :: h) w / run_law N (x :: h) w)) by (field; lra).
          rewrite ln_mult by (apply Rdiv_lt_0_compat; auto). rewrite Rmult_plus_distr_l, exp_plus. ring.
      + rewrite Sum_scal_r. pose proof (round_cost h a Ha) as C. unfold moment in C.
        replace (a * (a - 1) * B) with (a * (a - 1) * cost h + a * (a - 1) * (B - cost h)) by ring.
        rewrite exp_plus. apply Rmult_le_compat_r; [left; apply exp_pos|auto].
  Qed.
End Filter.
