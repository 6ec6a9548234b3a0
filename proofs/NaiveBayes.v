(** One fit from its plan to its claim: the private naive Bayes of docs/examples/plot_14_own_learner.py.

    A row is a code of each column and a class.  The plan is one histogram, which counts the rows by column, code and
    class, in steps of a grid, with discrete Gaussian noise; the model is a function of the noisy histogram.  The claim
    follows by concentrated privacy.  What Values.v says of this file compares the plan with what the learner returns. *)
From Coq Require Import Reals Lra List Psatz Lia ZArith.
From Dpfast Require Import Sums Privacy Threshold Concentrated Sensitivity Axioms Gaussian Numbers Plans.
Import ListNotations.
Open Scope R_scope.

(** The plan: what the histogram moves by, in squares, and what its noise costs; sigma counts steps. *)
Definition histogram_square (replaced : bool) (columns : R) : R := changed replaced * columns.

Definition naive_bayes_rho (replaced : bool) (columns steps sigma : R) : R :=
  noise_square (steps * steps * histogram_square replaced columns) sigma / 2.

Section Fit.
  Context {Column Code Class : Type} (columns : list Column) (codes : list Code) (classes : list Class).
  Context (same_code : Code -> Code -> bool) (same_class : Class -> Class -> bool).
  Hypothesis same_code_eq : forall a b, same_code a b = true <-> a = b.
  Hypothesis same_class_eq : forall a b, same_class a b = true <-> a = b.
  Hypothesis codes_once : NoDup codes.
  Hypothesis classes_once : NoDup classes.

  (** A row has a code of each column, and a label. *)
  Definition row : Type := ((Column -> Code) * Class)%type.
  Definition cell_of (x : row) (column : Column) : Code * Class := (fst x column, snd x).
  Definition same_cell (a b : Code * Class) : bool := (same_code (fst a) (fst b) && same_class (snd a) (snd b))%bool.
  Definition places : list (Column * (Code * Class)) := list_prod columns (list_prod codes classes).

  Lemma same_cell_eq a b : same_cell a b = true <-> a = b.
  Proof.
    destruct a as [a c], b as [b d]. unfold same_cell. simpl. rewrite Bool.andb_true_iff, same_code_eq, same_class_eq.
    split; [intros [-> ->]; auto|]. intros E. inversion E. auto.
  Qed.

  Lemma pairs_once {A B} (l : list A) (m : list B) : NoDup l -> NoDup m -> NoDup (list_prod l m).
  Proof.
    intros L M. induction L as [|a l I L IH]; simpl; [constructor|].
    assert (K : forall b : list B, NoDup b -> NoDup (map (pair a) b)).
    { intros b. induction 1 as [|y b J N IHb]; simpl; constructor; auto. intros H. apply in_map_iff in H.
      destruct H as [z [E Z]]. inversion E. subst z. contradiction. }
    assert (App : forall u v : list (A * B), NoDup u -> NoDup v -> (forall x, In x u -> ~ In x v) -> NoDup (u ++ v)).
    { intros u v U V D. induction U as [|x u J U IHu]; simpl; auto. constructor.
      - intros H. apply in_app_or in H. destruct H; [contradiction|]. apply (D x); [left; auto|auto].
      - apply IHu. intros y Y. apply D. right; auto. }
    apply App; auto. intros [x y] H H'. apply in_map_iff in H. destruct H as [z [E _]]. inversion E. subst x.
    apply in_prod_iff in H'. destruct H'. contradiction.
  Qed.

  (** How many rows of a table are in a place. *)
  Fixpoint number (table : list row) (z : Column * (Code * Class)) : Z :=
    match table with
    | [] => 0%Z
    | x :: rest => ((if same_cell (cell_of x (fst z)) (snd z) then 1 else 0) + number rest z)%Z
    end.

  Lemma number_counts table z : IZR (number table z) = counts same_cell cell_of table z.
  Proof.
    unfold counts. induction table as [|x rest IH]; [reflexivity|]. simpl. rewrite plus_IZR, IH.
    destruct (same_cell (cell_of x (fst z)) (snd z)); reflexivity.
  Qed.

  (** The plan's premise: one row moves the histogram by no more than the plan says. *)
  Theorem histogram_moves replaced a b : near replaced a b ->
    Sum places (fun z => (IZR (number a z) - IZR (number b z)) * (IZR (number a z) - IZR (number b z)))
    <= histogram_square replaced (INR (length columns)).
  Proof.
    intros N. pose proof (pairs_once codes classes codes_once classes_once) as Once.
    rewrite (Sum_ext places _ (fun z => (counts same_cell cell_of a z - counts same_cell cell_of b z) *
                                        (counts same_cell cell_of a z - counts same_cell cell_of b z))).
    2:{ intros z _. rewrite !number_counts. reflexivity. }
    unfold histogram_square, changed. destruct replaced; simpl in N.
    - destruct N as [l x y r]. rewrite Rmult_comm.
      apply (histogram_columns_replace columns (list_prod codes classes) same_cell cell_of same_cell_eq Once).
    - rewrite Rmult_1_l. destruct N as [l x r|l x r].
      + eapply Rle_trans; [right|apply (histogram_columns_add columns (list_prod codes classes) same_cell cell_of same_cell_eq Once l x r)].
        apply Sum_ext. intros z _. ring.
      + apply (histogram_columns_add columns (list_prod codes classes) same_cell cell_of same_cell_eq Once).
  Qed.

  (** The release: place by place, the number of rows in steps, with discrete Gaussian noise. *)
  Context (steps : Z) (sigma z : R).
  Hypothesis sigma_pos : 0 < sigma.
  Hypothesis total : series (gauss sigma 0) z.

  Definition asked (table : list row) (l : list (Column * (Code * Class))) (h : list Z) : Z :=
    match nth_error l (length h) with Some place => (steps * number table place)%Z | None => 0%Z end.

  Definition noisy table l (h : list Z) : Z -> R := discrete_gaussian sigma z (IZR (asked table l h)).

  (** The law of all noisy numbers, latest first. *)
  Definition released (table : list row) : list Z -> R := run_law (noisy table places) [].

  Lemma z_pos : 0 < z.
  Proof.
    destruct total as [U _]. apply Rlt_le_trans with (Sum (window 0) (gauss sigma 0)).
    - simpl. pose proof (exp_pos (- ((IZR 0 - 0) * (IZR 0 - 0) / (2 * (sigma * sigma))))). unfold gauss. simpl in *. lra.
    - apply U. exists O; auto.
  Qed.

  Lemma noisy_pos table l h x : 0 < noisy table l h x.
  Proof. unfold noisy, discrete_gaussian, gauss. apply Rdiv_lt_0_compat; [apply exp_pos|apply z_pos]. Qed.

  Definition place_cost (a b : list row) (place : Column * (Code * Class)) : R :=
    IZR steps * IZR steps * ((IZR (number a place) - IZR (number b place)) * (IZR (number a place) - IZR (number b place)))
    / (2 * (sigma * sigma)).

  Definition cost_of a b l (h : list Z) : R :=
    match nth_error l (length h) with Some place => place_cost a b place | None => 0 end.

  Lemma place_cost_nonneg a b place : 0 <= place_cost a b place.
  Proof.
    unfold place_cost. apply Rmult_le_pos; [|left; apply Rinv_0_lt_compat; nra].
    apply Rmult_le_pos; [apply (Rle_0_sqr (IZR steps))|apply (Rle_0_sqr (IZR (number a place) - IZR (number b place)))].
  Qed.

  Lemma round_costs a b l n h : zcdp (window n) (cost_of a b l h) (noisy a l h) (noisy b l h).
  Proof.
    pose proof (discrete_gaussian_zcdp sigma z (asked a l h) (asked b l h) n sigma_pos total) as H.
    unfold noisy, cost_of. replace (match nth_error l (length h) with Some place => place_cost a b place | None => 0 end)
      with ((IZR (asked a l h) - IZR (asked b l h)) * (IZR (asked a l h) - IZR (asked b l h)) / (2 * (sigma * sigma))); auto.
    unfold asked, place_cost. destruct (nth_error l (length h)); [rewrite !mult_IZR|]; field; lra.
  Qed.

  Lemma budget a b n l : forall k h, length h = k -> (k <= length l)%nat ->
    within_budget (window n) (cost_of a b l) (length l - k) h (Sum (skipn k l) (place_cost a b)).
  Proof.
    intros k h. remember (length l - k)%nat as m eqn:M. revert k h M. induction m as [|m IH]; intros k h M K L; simpl.
    - apply Sum_nonneg. intros; apply place_cost_nonneg.
    - intros x _. assert (E : exists place rest, skipn k l = place :: rest /\ skipn (S k) l = rest /\ nth_error l k = Some place).
      { assert (k < length l)%nat by lia. clear - H. revert k H. induction l as [|p l IH]; intros k H; [simpl in H; lia|].
        destruct k as [|k]; [exists p, l; simpl; auto|]. destruct (IH k) as [q [r Q]]; [simpl in H; lia|]. exists q, r. exact Q. }
      destruct E as [place [rest [E [E' F]]]]. unfold cost_of at 2. rewrite K, F, E. simpl.
      replace (place_cost a b place + Sum rest (place_cost a b) - place_cost a b place) with (Sum (skipn (S k) l) (place_cost a b))
        by (rewrite E'; ring).
      apply IH; [lia|simpl; lia|lia].
  Qed.

  Lemma less_costs_less {X} (dom : list X) rho rho' P Q : rho <= rho' -> zcdp dom rho P Q -> zcdp dom rho' P Q.
  Proof.
    intros L H a A. eapply Rle_trans; [apply (H a A)|]. apply exp_le. apply Rmult_le_compat_l; [|auto].
    apply Rmult_le_pos; lra.
  Qed.

  (** The histogram is concentrated as the plan says, on every finite set of outcomes. *)
  Theorem histogram_zcdp replaced a b n : near replaced a b ->
    zcdp (runs (window n) (length places) []) (naive_bayes_rho replaced (INR (length columns)) (IZR steps) sigma)
      (released a) (released b).
  Proof.
    intros N. apply less_costs_less with (rho := Sum places (place_cost a b)).
    - unfold naive_bayes_rho, noise_square, place_cost.
      rewrite (Sum_ext places _ (fun place => IZR steps * IZR steps / (2 * (sigma * sigma)) *
        ((IZR (number a place) - IZR (number b place)) * (IZR (number a place) - IZR (number b place))))).
      2:{ intros place _. field. lra. }
      rewrite Sum_scal. pose proof (histogram_moves replaced a b N) as H.
      assert (C : 0 <= IZR steps * IZR steps / (2 * (sigma * sigma))).
      { apply Rmult_le_pos; [apply (Rle_0_sqr (IZR steps))|left; apply Rinv_0_lt_compat; nra]. }
      apply Rmult_le_compat_l with (r := IZR steps * IZR steps / (2 * (sigma * sigma))) in H; auto.
      eapply Rle_trans; [exact H|]. right. field. lra.
    - unfold released. apply (zcdp_filter (window n) (noisy a places) (noisy b places) (cost_of a b places)).
      + intros; apply noisy_pos.
      + intros; apply noisy_pos.
      + intros; apply round_costs.
      + pose proof (budget a b n places 0 [] eq_refl (Nat.le_0_l _)) as B. rewrite Nat.sub_0_r in B. exact B.
  Qed.

  (** The claim, for whatever is computed from the histogram: a model, and all that it predicts. *)
  Theorem naive_bayes_private {Model} (models : list Model) (model : list Z -> Model -> R) replaced a b n E delta :
    near replaced a b -> (forall h, law models (model h)) -> 0 < delta ->
    zcdp_fits (naive_bayes_rho replaced (INR (length columns)) (IZR steps) sigma) E delta ->
    let outcomes := runs (window n) (length places) [] in
    private models E delta (push outcomes (released a) model) (push outcomes (released b) model).
  Proof.
    intros N K D [order [B F]] outcomes. apply post_processing; [apply K|].
    assert (Pos : forall table w h, 0 < run_law (noisy table places) h w).
    { intros table w. induction w as [|x w IH]; simpl; intros h; [lra|]. apply Rmult_lt_0_compat; [apply noisy_pos|apply IH]. }
    pose proof (zcdp_conversion outcomes _ E order (released a) (released b) (fun w => Pos a w []) (fun w => Pos b w []) B
      (histogram_zcdp replaced a b n N)) as C.
    unfold private in *. eapply Rle_trans; [exact C|]. rewrite <- (exp_ln delta D). apply exp_le. exact F.
  Qed.
End Fit.
