(** SparseSample: an item that is on some list, or nothing, with probability proportional to exp(e s(u)), and exp(e B)
    for nothing; s(u) is the number of lists that contain u.  One draw is (2 e, L exp(-e B) (1 + exp(e)))-DP where one
    list of at most L items is exchanged, added or deleted: the theorem of dpfast.accounting.curves.sparse_sample. *)
From Coq Require Import Reals Lra List Psatz Lia.
From Dpfast Require Import Sums Privacy.
Import ListNotations.
Open Scope R_scope.

Section SparseSample.
  Context {U : Type} (items : list U) (e B : R).
  Hypothesis e_nonneg : 0 <= e.

  Definition item_weight (s : U -> nat) (u : U) : R :=
    match s u with O => 0 | _ => exp (e * INR (s u)) end.

  Definition total (s : U -> nat) : R := exp (e * B) + Sum items (item_weight s).

  Definition sparse_outcomes : list (option U) := None :: map Some items.

  Definition sparse_sample (s : U -> nat) (o : option U) : R :=
    match o with None => exp (e * B) | Some u => item_weight s u end / total s.

  Lemma item_weight_nonneg s u : 0 <= item_weight s u.
  Proof. unfold item_weight. destruct (s u); [lra|left; apply exp_pos]. Qed.

  Lemma total_ge s : exp (e * B) <= total s.
  Proof. unfold total. pose proof (Sum_nonneg items (item_weight s) (fun u _ => item_weight_nonneg s u)). lra. Qed.

  Lemma total_pos s : 0 < total s.
  Proof. pose proof (total_ge s). pose proof (exp_pos (e * B)). lra. Qed.

  Lemma sparse_sample_law s : law sparse_outcomes (sparse_sample s).
  Proof.
    pose proof (total_pos s). split.
    - intros [u|]; (apply Rmult_le_pos; [|left; apply Rinv_0_lt_compat; auto]); [apply item_weight_nonneg|].
      left; apply exp_pos.
    - unfold sparse_outcomes, sparse_sample. simpl. rewrite Sum_map. unfold Rdiv. rewrite Sum_scal_r.
      rewrite <- Rmult_plus_distr_r. unfold total. apply Rinv_r. fold (total s). lra.
  Qed.

  (** Items that only the first table can draw. *)
  Definition only (s s' : U -> nat) (u : U) : R := match s u, s' u with S _, O => 1 | _, _ => 0 end.

  Variables s s' : U -> nat.
  Variable L : R.
  Hypothesis near : forall u, (s u <= S (s' u) /\ s' u <= S (s u))%nat.
  Hypothesis few : Sum items (only s s') <= L.
  Hypothesis few' : Sum items (only s' s) <= L.

  Lemma weight_shift (a b : U -> nat) u :
    (a u <= S (b u))%nat -> item_weight a u <= exp e * item_weight b u + exp e * only a b u.
  Proof.
    intros H. unfold item_weight, only. pose proof (exp_pos e).
    destruct (a u) as [|m] eqn:A, (b u) as [|n] eqn:D; try lra.
    - pose proof (exp_pos (e * INR (S n))). nra.
    - assert (m = O) by lia. subst m. simpl INR. rewrite Rmult_1_r. lra.
    - rewrite Rmult_0_r, Rplus_0_r, <- exp_plus. apply exp_le.
      assert (INR (S m) <= INR (S n) + 1) by (rewrite <- S_INR; apply le_INR; lia). nra.
  Qed.

  Theorem sparse_sample_private :
    private sparse_outcomes (2 * e) (L * exp (- (e * B)) * (1 + exp e)) (sparse_sample s) (sparse_sample s').
  Proof.
    pose proof (exp_pos e) as E0. pose proof (exp_ge_1 e e_nonneg) as E1. pose proof (exp_pos (e * B)) as B0.
    pose proof (exp_neg (e * B)) as BB. pose proof (exp_pos (- (e * B))) as B1.
    pose proof (total_pos s) as Z0. pose proof (total_pos s') as Z0'. pose proof (total_ge s) as ZB.
    assert (L0 : 0 <= L).
    { apply Rle_trans with (2 := few). apply Sum_nonneg. intros u _. unfold only. destruct (s u), (s' u); lra. }
    set (h := L * exp (- (e * B))).
    assert (h0 : 0 <= h) by (apply Rmult_le_pos; lra).
    assert (Zs : total s' <= exp e * total s * (1 + h)).
    { apply Rle_trans with (exp e * total s + exp e * L).
      - unfold total. rewrite Rmult_plus_distr_l.
        assert (Sum items (item_weight s') <= exp e * Sum items (item_weight s) + exp e * L).
        { apply Rle_trans with (Sum items (fun u => exp e * item_weight s u + exp e * only s' s u)).
          - apply Sum_le. intros u _. apply weight_shift. apply near.
          - rewrite Sum_plus, !Sum_scal. apply Rplus_le_compat_l. apply Rmult_le_compat_l; lra. }
        assert (exp (e * B) <= exp e * exp (e * B)) by nra. lra.
      - assert (L <= h * total s).
        { unfold h. apply Rle_trans with (L * (exp (- (e * B)) * exp (e * B))); [rewrite BB; lra|].
          rewrite Rmult_assoc. apply Rmult_le_compat_l; auto. apply Rmult_le_compat_l; lra. }
        assert (exp e * L <= exp e * (h * total s)) by (apply Rmult_le_compat_l; lra). lra. }
    (* every outcome: P - e^2e Q is at most the share of new items and h / (1 + h) of P *)
    set (new o := match o with Some u => only s s' u * exp e / total s | None => 0 end).
    assert (New0 : forall o, 0 <= new o).
    { intros [u|]; unfold new; [|lra]. apply Rmult_le_pos; [|left; apply Rinv_0_lt_compat; auto].
      apply Rmult_le_pos; [|lra]. unfold only. destruct (s u), (s' u); lra. }
    set (c := h / (1 + h)).
    assert (c0 : 0 <= c) by (apply Rmult_le_pos; [auto|left; apply Rinv_0_lt_compat; lra]).
    assert (P0 : forall o, 0 <= sparse_sample s o) by apply sparse_sample_law.
    assert (One : forall o, Rmax 0 (sparse_sample s o - exp (2 * e) * sparse_sample s' o) <=
                            new o + c * sparse_sample s o).
    { intros o. pose proof (New0 o). pose proof (P0 o).
      apply pos_le; [assert (0 <= c * sparse_sample s o) by nra; lra|].
      assert (Old : (1 - c) * (sparse_sample s o - new o) <= exp (2 * e) * sparse_sample s' o).
      { set (w := match o with None => exp (e * B) | Some u => item_weight s u end - new o * total s).
        set (w' := match o with None => exp (e * B) | Some u => item_weight s' u end).
        assert (W : w <= exp e * w').
        { unfold w, w', new. destruct o as [u|].
          - replace (only s s' u * exp e / total s * total s) with (exp e * only s s' u) by (field; lra).
            pose proof (weight_shift s s' u (proj1 (near u))). lra.
          - nra. }
        assert (W' : 0 <= w') by (unfold w'; destruct o; [apply item_weight_nonneg|lra]).
        replace (sparse_sample s o - new o) with (w / total s) by (unfold w, sparse_sample; field; lra).
        change (sparse_sample s' o) with (w' / total s').
        replace (1 - c) with (/ (1 + h)) by (unfold c; field; lra).
        apply Rmult_le_reg_r with (total s * total s' * (1 + h)); [nra|].
        replace (/ (1 + h) * (w / total s) * (total s * total s' * (1 + h))) with (w * total s') by (field; lra).
        replace (exp (2 * e) * (w' / total s') * (total s * total s' * (1 + h)))
          with (exp e * w' * (exp e * total s * (1 + h))).
        2:{ replace (2 * e) with (e + e) by ring. rewrite exp_plus. field. lra. }
        apply Rle_trans with (exp e * w' * total s').
        - apply Rmult_le_compat_r; lra.
        - apply Rmult_le_compat_l; [nra|auto]. }
      assert (c <= 1).
      { unfold c. apply Rmult_le_reg_r with (1 + h); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
      nra. }
    unfold private, hockey.
    eapply Rle_trans; [apply Sum_le; intros o _; apply One|].
    rewrite Sum_plus, Sum_scal. destruct (sparse_sample_law s) as [_ ->].
    assert (Cn : c <= h).
    { unfold c. apply Rmult_le_reg_r with (1 + h); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. nra. }
    assert (Nn : Sum sparse_outcomes new <= h * exp e).
    { unfold sparse_outcomes. simpl. rewrite Sum_map, Rplus_0_l. unfold new, Rdiv.
      rewrite Sum_scal_r, Sum_scal_r.
      apply Rmult_le_reg_r with (total s); auto. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
      apply Rle_trans with (L * exp e); [apply Rmult_le_compat_r; lra|].
      unfold h. replace (L * exp (- (e * B)) * exp e * total s) with (L * exp e * (exp (- (e * B)) * total s)) by ring.
      assert (1 <= exp (- (e * B)) * total s).
      { rewrite <- BB. apply Rmult_le_compat_l; lra. }
      assert (0 <= L * exp e) by nra. nra. }
    lra.
  Qed.
End SparseSample.

(** The premises, from the lists themselves: one list is exchanged (add and delete: for an empty one). *)
Section Lists.
  Context {U : Type} (same : U -> U -> bool).
  Hypothesis same_eq : forall u v, same u v = true <-> u = v.

  Definition on (l : list U) (u : U) : bool := existsb (same u) l.
  Definition times (ls : list (list U)) (u : U) : nat := length (filter (fun l => on l u) ls).

  Lemma times_app ls ms u : times (ls ++ ms) u = (times ls u + times ms u)%nat.
  Proof. unfold times. rewrite filter_app, app_length. reflexivity. Qed.

  Lemma times_cons l ls u : times (l :: ls) u = ((if on l u then 1 else 0) + times ls u)%nat.
  Proof. unfold times. simpl. destruct (on l u); reflexivity. Qed.

  Lemma lists_near ls l l' ms u :
    (times (ls ++ l :: ms) u <= S (times (ls ++ l' :: ms) u))%nat /\
    (times (ls ++ l' :: ms) u <= S (times (ls ++ l :: ms) u))%nat.
  Proof. rewrite !times_app, !times_cons. destruct (on l u), (on l' u); lia. Qed.

  Lemma sum_on (items l : list U) : NoDup items -> Sum items (fun u => if on l u then 1 else 0) <= INR (length l).
  Proof.
    intros N. revert items N. induction l as [|v l IH]; intros items N.
    - simpl. rewrite Sum_zero; [lra|]. intros; reflexivity.
    - change (length (v :: l)) with (S (length l)). rewrite S_INR.
      apply Rle_trans with (Sum items (fun u => (if on l u then 1 else 0) + (if same u v then 1 else 0))).
      + apply Sum_le. intros u _. unfold on. simpl. destruct (same u v), (existsb (same u) l); simpl; lra.
      + rewrite Sum_plus. specialize (IH items N).
        assert (Sum items (fun u => if same u v then 1 else 0) <= 1); [|lra].
        clear IH. induction N as [|u r I N IHN]; simpl; [lra|].
        destruct (same u v) eqn:E; [|lra]. apply same_eq in E. subst v.
        rewrite Sum_zero; [lra|]. intros w J. destruct (same w u) eqn:F; [|reflexivity].
        apply same_eq in F. subst w. contradiction.
  Qed.

  Lemma lists_few (items : list U) ls l l' ms : NoDup items ->
    Sum items (only (times (ls ++ l :: ms)) (times (ls ++ l' :: ms))) <= INR (length l).
  Proof.
    intros N. eapply Rle_trans; [|apply sum_on; exact N]. apply Sum_le. intros u _. unfold only.
    assert (O : forall m n, match m with O => 0 | S _ => match n with O => 1 | S _ => 0 end end <= 1).
    { intros [|m] [|n]; lra. }
    assert (Z : forall m n, (m <= n)%nat -> match m with O => 0 | S _ => match n with O => 1 | S _ => 0 end end <= 0).
    { intros [|m] [|n] H; lra || lia. }
    rewrite !times_app, !times_cons. destruct (on l u); [apply O|]. apply Z. lia.
  Qed.

  Theorem sparse_sample_lists (items : list U) e B L ls l l' ms :
    NoDup items -> 0 <= e -> INR (length l) <= L -> INR (length l') <= L ->
    private (sparse_outcomes items) (2 * e) (L * exp (- (e * B)) * (1 + exp e))
      (sparse_sample items e B (times (ls ++ l :: ms))) (sparse_sample items e B (times (ls ++ l' :: ms))).
  Proof.
    intros N He H H'. apply sparse_sample_private; auto.
    - intros u. apply lists_near.
    - eapply Rle_trans; [apply lists_few|]; auto.
    - eapply Rle_trans; [apply lists_few|]; auto.
  Qed.
End Lists.
