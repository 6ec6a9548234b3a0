(** The bill of a fit (dpfast.accounting.claims.bill), by concentrated privacy: releases of several kinds, each of which may be
    chosen with the earlier ones in view, at costs that were fixed before any of them was made. *)
From Coq Require Import Reals Lra List Psatz Lia.
From Dpfast Require Import Sums Privacy Concentrated Survey Plans.
Import ListNotations.
Open Scope R_scope.

(** What sums and draws cost: each sum moves by a square m, with noise of scale s; each draw has a width and an exponent. *)
Definition bill_parts (sums draws : list (R * R)) : list R :=
  map (fun p => noise_square (fst p) (snd p) / 2) sums ++ map (fun p => draws_rho (snd p) (fst p) 1) draws.

Definition bill_rho (sums draws : list (R * R)) : R := Sum (bill_parts sums draws) (fun rho => rho).

Section Bill.
  Context {X : Type} (dom : list X) (M N : list X -> X -> R) (sums draws : list (R * R)).
  Hypothesis M_law : forall h, law dom (M h).
  Hypothesis N_law : forall h, law dom (N h).
  Hypothesis M_pos : forall h x, 0 < M h x.
  Hypothesis N_pos : forall h x, 0 < N h x.
  Hypothesis parts_nonneg : forall rho, In rho (bill_parts sums draws) -> 0 <= rho.

  (** Release number n costs what part n does, whatever was released before. *)
  Hypothesis part_costs : forall h, zcdp dom (nth (length h) (bill_parts sums draws) 0) (M h) (N h).

  Lemma left_to_pay : forall m k h, length h = k -> (k + m = length (bill_parts sums draws))%nat ->
    within_budget dom (fun h => nth (length h) (bill_parts sums draws) 0) m h (Sum (skipn k (bill_parts sums draws)) (fun rho => rho)).
  Proof.
    induction m as [|m IH]; intros k h K L; simpl.
    - apply Sum_nonneg. intros rho I. apply parts_nonneg. rewrite <- (firstn_skipn k (bill_parts sums draws)).
      apply in_or_app. right; auto.
    - intros x _. assert (E : skipn k (bill_parts sums draws)
          = nth k (bill_parts sums draws) 0 :: skipn (S k) (bill_parts sums draws)).
      { assert (H : (k < length (bill_parts sums draws))%nat) by lia. clear - H.
        revert k H. induction (bill_parts sums draws) as [|p l IH]; intros k H; [simpl in H; lia|].
        destruct k as [|k]; [reflexivity|]. simpl in *. apply IH. lia. }
      rewrite K, E. cbn [Sum].
      match goal with |- within_budget _ _ _ _ ?v =>
        replace v with (Sum (skipn (S k) (bill_parts sums draws)) (fun rho => rho)) by ring end.
      apply IH; [simpl; lia|lia].
  Qed.

  (** All releases together. *)
  Theorem bill_zcdp :
    zcdp (runs dom (length (bill_parts sums draws)) []) (bill_rho sums draws) (run_law M []) (run_law N []).
  Proof.
    pose proof (left_to_pay (length (bill_parts sums draws)) 0 [] eq_refl eq_refl) as B.
    apply (zcdp_filter dom M N (fun h => nth (length h) (bill_parts sums draws) 0)); auto.
  Qed.

  (** The claim of the bill, at any order. *)
  Theorem bill_claim E b : 0 < b ->
    private (runs dom (length (bill_parts sums draws)) []) E
      (exp (b * ((1 + b) * bill_rho sums draws - E) - b * ln (1 + 1 / b) - ln (1 + b))) (run_law M []) (run_law N []).
  Proof.
    intros B. assert (Pos : forall K : list X -> X -> R, (forall h x, 0 < K h x) -> forall w h, 0 < run_law K h w).
    { intros K HK w. induction w as [|x w IHw]; simpl; intros g; [lra|]. apply Rmult_lt_0_compat; auto. }
    apply zcdp_conversion; auto. apply bill_zcdp.
  Qed.
End Bill.

(** Words beside it, which are published with the chance d where only one table has them: d + (1 - d) G.  N and N' are
    the laws of the first look without what is lone, L and L' of what is lone, K and K' of all that follows; the parts of
    the bill are the look and what follows where nothing lone is published. *)
Theorem bill_with_words {U W Y} (domU : list U) (lone : list W) (domY : list Y) (N N' : U -> R) (L L' : option W -> R)
    (K K' : U * option W -> Y -> R) sums draws E b d :
  law domU N -> law domU N' -> law (None :: map Some lone) L -> law (None :: map Some lone) L' ->
  (forall z, law domY (K z)) -> (forall z, law domY (K' z)) ->
  (forall u, 0 < N u) -> (forall u, 0 < N' u) -> (forall z y, 0 < K z y) -> (forall z y, 0 < K' z y) ->
  Sum lone (fun w => L (Some w)) <= d -> Sum lone (fun w => L' (Some w)) <= d -> d < 1 -> 0 < b ->
  zcdp (list_prod domU domY) (bill_rho sums draws)
    (joint N (fun u => K (u, None))) (joint N' (fun u => K' (u, None))) ->
  let G := exp (b * ((1 + b) * bill_rho sums draws - E) - b * ln (1 + 1 / b) - ln (1 + b)) in
  G <= 1 ->
  private (list_prod (list_prod domU (None :: map Some lone)) domY) E (d + (1 - d) * G)
    (joint (joint N (fun _ => L)) K) (joint (joint N' (fun _ => L')) K').
Proof.
  intros HN HN' HL HL' HK HK' N0 N0' K0 K0' D D' D1 B Z G G1.
  apply survey_and_learner; auto. apply zcdp_conversion; auto;
    intros [u y]; unfold joint; simpl; apply Rmult_lt_0_compat; auto.
Qed.
