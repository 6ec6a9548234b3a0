(** The example of docs/guides/own_proof.md: an answer that is true with probability e^e / (1 + e^e). *)
From Coq Require Import Reals Lra List.
From Dpfast Require Import Sums Privacy.
Import ListNotations.
Open Scope R_scope.

Definition replies := [true; false].

Definition answer (e : R) (truth reply : bool) : R :=
  if Bool.eqb truth reply then exp e / (1 + exp e) else 1 / (1 + exp e).

Lemma answer_law e truth : law replies (answer e truth).
Proof.
  pose proof (exp_pos e). split.
  - intros reply. unfold answer. destruct (Bool.eqb truth reply);
      (apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]).
  - unfold answer. destruct truth; simpl; field; lra.
Qed.

(** One answer is e-DP, whatever the two truths are. *)
Theorem answer_private e truth truth' : 0 <= e -> private replies e 0 (answer e truth) (answer e truth').
Proof.
  intros He. apply private_pure. intros reply _. unfold answer.
  pose proof (exp_ge_1 e He) as X. set (x := exp e) in *. unfold Rdiv.
  assert (I : 0 < / (1 + x)) by (apply Rinv_0_lt_compat; lra). set (i := / (1 + x)) in *.
  assert (i <= x * i) by nra. assert (x * i <= x * (x * i)) by nra.
  destruct (Bool.eqb truth reply), (Bool.eqb truth' reply); lra.
Qed.

(** A second question may depend on the first answer: 2 e. *)
Theorem two_answers e (truth truth' : bool) (second second' : bool -> bool) : 0 <= e ->
  private (list_prod replies replies) (e + e) (0 + 0)
    (joint (answer e truth) (fun first => answer e (second first)))
    (joint (answer e truth') (fun first => answer e (second' first))).
Proof.
  intros He. apply adaptive_composition; try (intros; apply answer_law); try lra.
  - apply answer_private; auto.
  - intros first _. apply answer_private; auto.
Qed.
