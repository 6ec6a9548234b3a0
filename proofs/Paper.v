(** The claim of a greedy cover as its paper has it: Lemma A.1 of Bun and Fang, for coverage weight 0 and exponents of at
    most 1, from the curve; dpfast.accounting.curves.cover computes it where accounting is "paper". *)
From Coq Require Import Reals Lra List Psatz.
From Dpfast Require Import Sums Privacy Cover.
Import ListNotations.
Open Scope R_scope.

(** The factor is 2 where a row is added or removed, and 4 where it is replaced. *)
Definition paper_epsilon (factor t d : R) : R := factor * t * (3 / 2 - ln d).

Lemma below_two_t t : 0 <= t <= 1 -> exp t - 1 <= 2 * t.
Proof.
  intros T. pose proof (exp_convex t 1 0 T) as C. rewrite exp_0 in C. replace (t * 1 + (1 - t) * 0) with t in C by ring.
  pose proof exp_le_3. nra.
Qed.

Lemma paper_tail factor t d : 2 <= factor -> 0 < t <= 1 -> 0 < d < 1 ->
  exp (- paper_epsilon factor t d / (exp t - 1)) <= d.
Proof.
  intros F T D. assert (L : ln d < 0) by (rewrite <- ln_1; apply ln_increasing; lra).
  pose proof (below_two_t t ltac:(lra)) as B. assert (E : exp 0 < exp t) by (apply exp_increasing; lra). rewrite exp_0 in E.
  rewrite <- (exp_ln d) at 2 by lra. apply exp_le. unfold paper_epsilon.
  apply Rmult_le_reg_r with (exp t - 1); [lra|]. unfold Rdiv at 1. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
  set (k := ln d) in *. assert (A : - k * (exp t - 1) <= - k * (2 * t)) by (apply Rmult_le_compat_l; lra).
  assert (G : 2 * (t * (3 / 2 - k)) <= factor * (t * (3 / 2 - k))) by (apply Rmult_le_compat_r; [apply Rmult_le_pos|]; lra).
  lra.
Qed.

Section Paper.
  Context {Row C : Type}.
  Variable covers errs : C -> Row -> bool.
  Variable cand : list C -> list C.
  Variable mass : list C -> C -> R.
  Variable error : list C -> C -> Row -> R.
  Variables t d : R.
  Hypothesis cand_some : forall h, cand h <> [].
  Hypothesis mass_pos : forall h c, 0 < mass h c.
  Hypothesis error_bounds : forall h c z, 0 <= error h c z <= 1.
  Hypothesis t_small : 0 < t <= 1.
  Hypothesis d_below_1 : 0 < d < 1.

  Let cover := cover_law covers errs cand mass (fun _ _ _ => 0) error t.

  Lemma weightless (h : list C) (c : C) (z : Row) : 0 <= 0 <= 0.
  Proof. lra. Qed.

  Lemma curve_below E : paper_epsilon 2 t d <= E -> f_any t (E - t) <= d /\ f_any t E <= d.
  Proof.
    intros H. assert (L : ln d < 0) by (rewrite <- ln_1; apply ln_increasing; lra).
    assert (P : 0 < paper_epsilon 2 t d) by (unfold paper_epsilon; nra).
    assert (X : exp 0 < exp t) by (apply exp_increasing; lra). rewrite exp_0 in X.
    assert (I : 0 < / (exp t - 1)) by (apply Rinv_0_lt_compat; lra).
    pose proof (paper_tail 2 t d (Rle_refl 2) t_small d_below_1) as B. pose proof (exp_le_1 (- t) ltac:(lra)) as S.
    pose proof (exp_pos (- t)) as Sp.
    assert (A : forall x, - t < x -> paper_epsilon 2 t d <= x + t -> f_any t x <= d).
    { intros x Hx Hs. unfold f_any. destruct (Rle_dec x (- t)); [lra|]. pose proof (exp_pos (- (x + t) / (exp t - 1))) as Y.
      apply Rle_trans with (exp (- (x + t) / (exp t - 1))); [nra|]. eapply Rle_trans; [|exact B].
      apply exp_le. apply Rmult_le_compat_r; lra. }
    split; apply A; lra.
  Qed.

  Theorem paper_replace T : dp replace (lists cand T []) (paper_epsilon 4 t d) d cover.
  Proof.
    intros a b N.
    eapply Rle_trans; [apply (cover_replace_any covers errs cand mass (fun _ _ _ => 0) error t 0 cand_some mass_pos
      weightless error_bounds ltac:(lra) (Rle_refl 0) T (paper_epsilon 4 t d) a b N)|].
    replace ((1 + 0) * t) with t by ring. apply curve_below.
    assert (L : ln d < 0) by (rewrite <- ln_1; apply ln_increasing; lra). unfold paper_epsilon. nra.
  Qed.

  Theorem paper_add_remove T : dp add_remove (lists cand T []) (paper_epsilon 2 t d) d cover.
  Proof.
    intros a b N. set (E := paper_epsilon 2 t d).
    eapply Rle_trans; [apply (cover_add_remove_any covers errs cand mass (fun _ _ _ => 0) error t 0 cand_some mass_pos
      weightless error_bounds ltac:(lra) (Rle_refl 0) T E a b N)|].
    assert (L : ln d < 0) by (rewrite <- ln_1; apply ln_increasing; lra).
    assert (P : t < E) by (unfold E, paper_epsilon; nra).
    rewrite Rmult_0_l. apply Rmax_lub.
    - rewrite Rminus_0_r. apply curve_below. unfold E. lra.
    - unfold f_any. destruct (Rle_dec (E - t) (- 0)); [lra|]. rewrite Ropp_0, exp_0. lra.
  Qed.
End Paper.
