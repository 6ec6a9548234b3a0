(** The curve of greedy cover is attained: for coverage weight 0 under add-remove no smaller function holds. *)
From Coq Require Import Reals Lra List Psatz Lia.
From Dpfast Require Import Sums Privacy Cover.
Import ListNotations.
Open Scope R_scope.

Section Sharp.
  Variables (t E : R) (T : nat).
  Hypothesis t_pos : 0 < t.
  Hypothesis E_inside : - t < E < INR T * t.

  Let h := (E + t) / INR (S T).
  Let a := 1 - exp (- t).
  Let p := (1 - exp (- h)) / a.

  (** Round i offers two features of its own: one that errs on the added row, and one that does not cover it. *)
  Let covers (c : nat * bool) (_ : unit) : bool := snd c.
  Let cand (d : list (nat * bool)) : list (nat * bool) := [(length d, true); (length d, false)].
  Let mass (_ : list (nat * bool)) (c : nat * bool) : R := if snd c then p else 1 - p.
  Let law_of := cover_law covers covers cand mass (fun _ _ _ => 0) (fun _ _ _ => 1) t.

  Lemma inside : 0 < h < t.
  Proof.
    assert (N : 0 < INR (S T)) by (apply lt_0_INR; lia).
    assert (H : INR (S T) * h = E + t) by (unfold h; field; lra). rewrite S_INR in *. split; nra.
  Qed.

  Lemma shares : 0 < a /\ 0 < p < 1 /\ 1 - p * a = exp (- h) /\ (1 - p) * a = exp (- h) - exp (- t).
  Proof.
    destruct inside as [H0 H1].
    assert (exp (- t) < exp (- h)) by (apply exp_increasing; lra).
    assert (exp (- h) < 1) by (rewrite <- exp_0; apply exp_increasing; lra).
    assert (A : 0 < a) by (unfold a; lra). assert (P : p * a = 1 - exp (- h)) by (unfold p; field; lra).
    assert (0 < p) by (apply Rdiv_lt_0_compat; lra).
    repeat split; auto; try lra.
    - apply Rmult_lt_reg_r with a; auto. rewrite P. unfold a. lra.
    - rewrite Rmult_minus_distr_r, P. unfold a. ring.
  Qed.

  Fixpoint path (n k : nat) : list (nat * bool) :=
    match k with O => [] | S k => (n, false) :: path (S n) k end.

  Lemma path_law rows share : (rows = [] /\ share = 1 - p) \/ (rows = [tt] /\ share = (1 - p) / (1 - p * a)) ->
    forall k d, covered covers d tt = false ->
    list_law cand (weight covers covers mass (fun _ _ _ => 0) (fun _ _ _ => 1) t rows) d (path (length d) k) = share ^ k.
  Proof.
    destruct shares as [A [P [Pa _]]]. pose proof (exp_pos (- h)) as Eh.
    intros H k. induction k as [|k IH]; intros d D; [reflexivity|].
    change (path (length d) (S k)) with ((length d, false) :: path (length ((length d, false) :: d)) k).
    cbn [list_law]. rewrite IH by (unfold covered in *; simpl; exact D).
    change (share ^ S k) with (share * share ^ k). f_equal.
    unfold draw, cand, weight, score, gain, mass. destruct H as [[-> ->]|[-> ->]]; simpl.
    - rewrite Rmult_0_r, exp_0. field. lra.
    - rewrite D. simpl. rewrite !Rplus_0_r, Rmult_0_r, exp_0.
      replace (t * - (1)) with (- t) by ring. unfold a in Pa |- *. field. lra.
  Qed.

  Lemma path_listed k : forall d, In (path (length d) k) (lists cand k d).
  Proof.
    induction k as [|k IH]; intros d; [left; reflexivity|].
    cbn [lists]. apply in_flat_map. exists (length d, false). split; [right; left; reflexivity|].
    apply (in_map (cons (length d, false)) _ _ (IH ((length d, false) :: d))).
  Qed.

  Theorem cover_curve_is_attained : f t T E <= hockey (lists cand T []) E (law_of [tt]) (law_of []).
  Proof.
    destruct shares as [A [[P0 P1] [Pa Pb]]]. destruct inside as [H0 H1].
    assert (N : 0 < INR (S T)) by (apply lt_0_INR; lia).
    assert (Hh : INR (S T) * h = E + t) by (unfold h; field; lra).
    unfold hockey. eapply Rle_trans;
      [|apply (Sum_term _ (fun o => Rmax 0 (law_of [tt] o - exp E * law_of [] o)) (path 0 T));
        [intros; apply pos_nonneg|apply (path_listed T [])]].
    eapply Rle_trans; [|apply pos_ge]. unfold law_of, cover_law.
    pose proof (path_law [tt] ((1 - p) / (1 - p * a)) (or_intror (conj eq_refl eq_refl)) T [] eq_refl) as L.
    pose proof (path_law [] (1 - p) (or_introl (conj eq_refl eq_refl)) T [] eq_refl) as L'.
    change (length (@nil (nat * bool))) with O in L, L'. rewrite L, L'.
    rewrite Pa. unfold f. destruct (Rle_dec E (- t)); [lra|]. destruct (Rle_dec (INR T * t) E); [lra|].
    fold h. fold a. apply Req_le.
    assert (Q : 1 - (exp h - 1) / (exp t - 1) = (1 - p) * exp h).
    { assert (T1 : 1 < exp t) by (rewrite <- exp_0; apply exp_increasing; lra).
      apply Rmult_eq_reg_r with a; [|lra].
      replace ((1 - p) * exp h * a) with (exp h * ((1 - p) * a)) by ring. rewrite Pb.
      assert (Ht : exp (- t) = / exp t) by apply exp_Ropp. assert (Hi : exp (- h) = / exp h) by apply exp_Ropp.
      unfold a. rewrite Ht, Hi. pose proof (exp_pos h). field. lra. }
    rewrite Q. unfold Rdiv. rewrite !Rpow_mult_distr.
    replace (exp E) with (exp h ^ S T * exp (- t)).
    2:{ rewrite exp_pow, Hh, <- exp_plus. f_equal. ring. }
    replace (/ exp (- h)) with (exp h) by (rewrite exp_Ropp, Rinv_inv; auto).
    assert (R : exp h * ((1 - p) * a) = 1 - exp h * exp (- t)).
    { rewrite Pb, Rmult_minus_distr_l, (Rmult_comm (exp h) (exp (- h))), exp_neg. ring. }
    cbn [pow]. set (x := (1 - p) ^ T). set (y := exp h ^ T).
    replace (a * ((1 - p) * x * (exp h * y))) with (x * y * (exp h * ((1 - p) * a))) by ring. rewrite R. ring.
  Qed.
End Sharp.
