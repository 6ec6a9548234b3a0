(** Draws of a bounded range: what tests can tell of them.  It is the first half of Theorem 1 of dpfast.accounting.claims.costs;
    the second half, that a shift of the log odds by r is a shift of the normal quantile by at most r sqrt(2 pi) / 4, is proved
    on paper. *)
From Coq Require Import Reals Lra List Psatz.
From Dpfast Require Import Sums Privacy.
Import ListNotations.
Open Scope R_scope.

Definition event {X} (dom : list X) (P : X -> R) (S : X -> bool) : R := Sum dom (fun x => if S x then P x else 0).

Definition not_event {X} (dom : list X) (P : X -> R) (S : X -> bool) : R := Sum dom (fun x => if S x then 0 else P x).

(** The odds of every event move by a factor of at most e^r. *)
Theorem odds_move {X} (dom : list X) (P Q : X -> R) low r (S : X -> bool) :
  (forall x, 0 <= Q x) -> (forall x, In x dom -> exp low * Q x <= P x <= exp (low + r) * Q x) ->
  event dom P S * not_event dom Q S <= exp r * (event dom Q S * not_event dom P S).
Proof.
  intros Q0 H. assert (A : event dom P S <= exp (low + r) * event dom Q S).
  { unfold event. rewrite <- Sum_scal. apply Sum_le. intros x I. destruct (H x I), (S x); lra. }
  assert (B : exp low * not_event dom Q S <= not_event dom P S).
  { unfold not_event. rewrite <- Sum_scal. apply Sum_le. intros x I. destruct (H x I), (S x); lra. }
  assert (E0 : 0 <= event dom Q S) by (apply Sum_nonneg; intros x _; specialize (Q0 x); destruct (S x); lra).
  assert (N0 : 0 <= not_event dom Q S) by (apply Sum_nonneg; intros x _; specialize (Q0 x); destruct (S x); lra).
  apply Rle_trans with (exp (low + r) * event dom Q S * not_event dom Q S); [apply Rmult_le_compat_r; auto|].
  rewrite exp_plus. pose proof (exp_pos r).
  replace (exp low * exp r * event dom Q S * not_event dom Q S) with (exp r * event dom Q S * (exp low * not_event dom Q S)) by ring.
  replace (exp r * (event dom Q S * not_event dom P S)) with (exp r * event dom Q S * not_event dom P S) by ring.
  apply Rmult_le_compat_l; auto. apply Rmult_le_pos; lra.
Qed.
