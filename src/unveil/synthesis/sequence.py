"""Sequential synthesis: each variable given those before it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from unveil.checks import check_flags, check_whole_numbers
from unveil.columns.stated_rules import Given, stated_rules
from unveil.errors import CallError
from unveil.files.source import Kind, Scalar
from unveil.printable import commands_shown
from unveil.synthesis.bandwidth import BandwidthRule
from unveil.synthesis.cart import CartMethod, FittedCart
from unveil.synthesis.diagnostics import warn_about_columns, warn_about_rules, warn_of_lost_dependence
from unveil.synthesis.encoding import encode
from unveil.synthesis.fitting import Progress, fit_plans, generator
from unveil.synthesis.likelihood import LogProbability, log_probability
from unveil.synthesis.memory import enough_memory, give_back
from unveil.synthesis.method_choice import Method, Smoothing, carries_recodings, check_special_codes, choose_methods
from unveil.synthesis.methods import METHODS
from unveil.synthesis.methods.coded_file import open_original
from unveil.synthesis.output_frame import Palette, make_palette
from unveil.synthesis.partial import kept_columns, released_records, require_whole
from unveil.synthesis.plan import Plan, draw_plan
from unveil.synthesis.rules import parse_rules
from unveil.synthesis.sampling import BLOCK, draw_blocks, joined
from unveil.synthesis.seeds import seed_or_secret
from unveil.synthesis.strata import (
    Stratum,
    columns_of_strata,
    draw_strata,
    fit_strata,
    records_by_stratum,
    require_no_strata,
)
from unveil.synthesis.variable import EncodedVariable, Levels, open_release
from unveil.threads import in_threads, n_threads
from unveil.trees import Dependence, Settings


class CartSynthesizer:
    """Sequential synthesis by classification and regression trees.

    The first variable is drawn with replacement from its observed values. For each later variable one tree is
    fitted to the original records, with the earlier variables as predictors; a synthetic record falls down the
    tree by its already synthetic values and takes the value of a donor in its leaf, drawn uniformly. Constants are
    copied, and so is a one-to-one recoding of an earlier predictor, unless its method is "sample" or an object of the
    user.

    A numeric variable with gaps, special codes or infinities is synthesised in two parts: first which of these values
    the record has, or that it has a number; then the number, by a tree of the records with a number.

    Parameters
    ----------
    minbucket : int
        Smallest number of donors in a leaf.
    minsplit : int, optional
        Smallest number of records of a node that is split; ``3 * minbucket`` by default.
    cp : float
        Splits that lower the risk by ``cp`` times the root's risk or less are removed.
    collapse : bool
        Whether the risk of a categorical variable is the number of misclassified records, as usual: subtrees
        that do not change the majority are then removed, and with them the dependence that they hold. With
        False the risk is the Gini index.
    max_depth : int
        Largest depth of a leaf.
    surrogates : int
        Number of surrogate splits for levels that a node has not seen.
    visit_order : sequence of str, optional
        Order of synthesis; column order by default.
    predictors : mapping of str to list of str, optional
        By variable, the earlier variables that predict it; all of them by default.
    methods : str, object or mapping, optional
        How variables are modelled: ``"cart"``, another name in ``unveil.synthesis.METHODS``, or an object with the
        method ``fit`` of :class:`unveil.synthesis.VariableMethod`; one for all, or by variable (others: CART).
    kinds : mapping of str to kind, optional
        What the values of a column are, where the file leaves it open.
    special_codes : mapping of str to values, optional
        Values of numeric columns that are not amounts, such as ``{"income": [-8]}``.
    smoothing : {None, "density"} or mapping of str to it
        Whether numbers are drawn as they occur or with normal noise; for all numeric columns, or by column.
        Results are clipped to the observed range and rounded to the decimals of the data; a value that more than
        70 percent have is kept.
    bandwidth : {"sheather-jones", "silverman"}
        How the noise is scaled.
    mix : float
        Probability, from 0 to 1, that a value comes from a donor of the whole column and not of the leaf. Above 0 no
        value that somebody else has is impossible for an intruder, but it can be as good as; dependence is lost. The
        parts of a number (see above) are mixed each by itself, and one-to-one recodings are drawn like other
        variables. All variables that have predictors need the method "cart" or "sample".
    proper : bool
        Whether each copy is fitted to a bootstrap sample of the records.
    rules : str, list of str, or mapping, optional
        What is true of every record (:mod:`unveil.synthesis.rules`). Values that follow from others, such as
        ``"marital=SINGLE if age < 16"`` or ``"net = gross - tax"``: such records are left out of the fit and take the
        value. Conditions that no record breaks, such as ``"not (sex == 'MALE' and pregnant == 'YES')"``: of the donors
        only those count with whose value they are kept. Records of the original that break a rule are counted in a
        warning.
    by : str or list of str, optional
        Columns that make strata: every combination of their values, a gap among them, has trees of its own, fitted to
        its records alone, and its share of a copy. A stratum needs ``minsplit`` records.
    keep : str or list of str, optional
        Columns that are released as they are: the copies are partially synthetic, and each record stands in the place
        of its original. They come first in the order of synthesis.
    replace_rows : str, optional
        A condition, such as ``"income > 100000"``: only records of which it is true are replaced, all others are
        released as they are. Models are fitted to those that are replaced.
    n_jobs : int, optional
        Number of threads; all by default. Results do not depend on it.
    progress : callable, optional
        Called with the number of tasks done, their total, and the name of the one just done.

    Raises
    ------
    CallError
        If an option is out of its range.

    References
    ----------
    Nowok, B., Raab, G. M. & Dibben, C. (2016). synthpop: Bespoke creation of synthetic data in R. Journal of
    Statistical Software 74 (11). doi:10.18637/jss.v074.i11

    Reiter, J. P. (2005). Using CART to generate partially synthetic public use microdata. Journal of Official
    Statistics 21, 441-462.

    Breiman, L., Friedman, J. H., Olshen, R. A. & Stone, C. J. (1984). Classification and regression trees.

    Examples
    --------
    >>> from unveil import simulate
    >>> original = simulate.latner_population(1000, seed=1)
    >>> synthesizer = CartSynthesizer().fit(original)
    >>> release = synthesizer.sample(seed=1)
    >>> release.num_rows, release.schema == original.schema
    (1000, True)
    >>> synthesizer.leaves()
    {'var1': 1, 'var2': 2, 'var3': 4, 'var4': 7}
    """

    def __init__(
        self,
        *,
        minbucket: int = Settings.minbucket,
        minsplit: int | None = Settings.minsplit,
        cp: float = Settings.cp,
        collapse: bool = Settings.collapse,
        max_depth: int = Settings.max_depth,
        surrogates: int = Settings.surrogates,
        visit_order: Sequence[str] | None = None,
        predictors: Mapping[str, Iterable[str]] | None = None,
        methods: Method | Mapping[str, Method] = "cart",
        kinds: Mapping[str, Kind] | None = None,
        special_codes: Mapping[str, Iterable[Scalar] | Scalar] | None = None,
        smoothing: Smoothing | Mapping[str, Smoothing | None] | None = None,
        bandwidth: BandwidthRule = "sheather-jones",
        mix: float = 0.0,
        proper: bool = False,
        rules: Given | None = None,
        by: str | Sequence[str] | None = None,
        keep: str | Sequence[str] | None = None,
        replace_rows: str | None = None,
        n_jobs: int | None = None,
        progress: Progress | None = None,
    ):
        self.cart = CartMethod(minbucket, minsplit, cp, max_depth, collapse, surrogates, None, bandwidth, mix)
        self.visit_order = visit_order
        self.predictors = predictors
        self.methods = methods
        self.kinds = kinds
        self.special_codes = special_codes
        self.smoothing = smoothing
        self.proper = proper
        self.rules = rules
        self.by = by
        self.keep = keep
        self.replace_rows = replace_rows
        self.threads = n_threads(n_jobs)
        self.progress = progress
        self._variables: tuple[EncodedVariable, ...] = ()
        self._plans: tuple[Plan, ...] = ()
        self._strata: tuple[Stratum, ...] = ()
        self._palette: Palette | None = None
        self._told_seed: int | None = None

    def fit(self, original: Any, *, seed: int | None = None) -> CartSynthesizer:
        """Fit the trees.

        Parameters
        ----------
        original
            The file of real records: a path, a data frame, or what :func:`unveil.read` gives.
        seed : int, optional
            Seed of methods whose fit is random; trees depend only on the data. By default a secret seed.

        Returns
        -------
        CartSynthesizer
            Itself.

        Raises
        ------
        CallError
            If an option names a column or value that the file does not have, or a variable that is not yet
            synthesised when it is needed.
        DataError
            If the file has no records or no columns, a column cannot be read as its kind, or a stratum is too small.
        """
        seed = seed_or_secret(seed)
        check_flags(proper=self.proper)
        if self.progress is not None and not callable(self.progress):
            raise CallError(f"progress must be a function of done, total and name, not {self.progress!r}")
        for name, option in (
            ("kinds", self.kinds),
            ("predictors", self.predictors),
            ("special_codes", self.special_codes),
        ):
            if option is not None and not isinstance(option, Mapping):
                raise CallError(f"{name} are given by column, as a mapping, not as {option!r}")
        stated = stated_rules(self.rules)
        source = open_original(original)
        variables = encode(source, kinds=self.kinds, special_codes=self.special_codes)
        give_back(source.num_rows)
        check_special_codes(self.special_codes or {}, variables)
        warn_about_columns(variables, source.label)
        names = [variable.name for variable in variables]
        by = columns_of_strata(self.by, names, stated.columns, proper=self.proper)
        if by and self.is_partial:
            raise CallError(
                "by and keep or replace_rows: strata of partially synthetic files are not drawn; leave one out"
            )
        plans = self.planned(variables, by)
        warn_about_rules(plans, source.label)
        self._plans, self._strata = (), ()
        if by:
            records = records_by_stratum(by, variables, self.cart.settings.smallest_split, source.label)
            self._strata = fit_strata(plans, by, records, seed, threads=self.threads, progress=self.progress)
        else:
            self._plans = fit_plans(plans, seed, (0,), threads=self.threads, progress=self.progress)
        self._told_seed = seed if self.tells_bootstrap else None
        self._variables = variables
        self._palette = make_palette(original, source, variables)
        warn_of_lost_dependence([_trees(sequence) for sequence in self.sequences])
        give_back(source.num_rows)
        return self

    def sample(self, n: int | None = None, *, m: int = 1, seed: int | None = None) -> Any:
        """Draw synthetic copies.

        Parameters
        ----------
        n : int, optional
            Number of records of each copy; as many as the original by default.
        m : int
            Number of copies.
        seed : int, optional
            The same seed gives the same copies, on any number of threads; the first copies do not depend on ``m``. By
            default it is secret: somebody who has all records but one and the seed can repeat the synthesis and find
            the last record.

        Returns
        -------
        frame or list of frames
            In the flavour and with the types of the original; a list where ``m`` is more than 1.

        Raises
        ------
        CallError
            If nothing is fitted, or an argument is out of its range.
        """
        palette = self._fitted()
        n = self._n_records(n)
        check_whole_numbers(0, n=n)
        check_whole_numbers(1, m=m)
        secret = seed_or_secret(seed)

        def draw(copy: int, plans: Sequence[Plan] = self._plans) -> Any:
            levels = joined(self._blocks(plans, n, secret, copy))
            return palette.paint({variable.name: levels.pop(variable.name) for variable in self._variables})

        def done(count: int, copy: int) -> None:
            if self.progress:
                self.progress(count, m, f"copy {copy + 1}")

        with enough_memory(n, m, len(self._variables)):
            if self.proper:
                # One after the other, each fitted in threads: the trees of only one copy are held at a time.
                copies = [draw(copy, self._bootstrapped(secret, copy, m)) for copy in range(m)]
            else:
                copies = in_threads(draw, range(m), self.threads, done)
        return copies if m > 1 else copies[0]

    def sample_blocks(self, n: int | None = None, *, copy: int = 0, seed: int | None = None) -> Iterator[Any]:
        """Draw one synthetic copy block by block, so that a copy of any size can be written.

        Parameters
        ----------
        n : int, optional
            Number of records of the copy; as many as the original by default.
        copy : int
            Number of the copy, from 0: the records are those that :meth:`sample` draws for it.
        seed : int, optional
            As of :meth:`sample`.

        Returns
        -------
        iterator of frames
            Frames of at most 1 048 576 records.

        Raises
        ------
        CallError
            If nothing is fitted, or an argument is out of its range.

        Examples
        --------
        >>> import pyarrow as pa
        >>> fitted = CartSynthesizer().fit(pa.table({"ill": ["no", "no", "no", "yes"]}))
        >>> [block.num_rows for block in fitted.sample_blocks(1_200_000, seed=1)]
        [1048576, 151424]
        """
        palette = self._fitted()
        n = self._n_records(n)
        check_whole_numbers(0, n=n, copy=copy)
        secret = seed_or_secret(seed)
        plans = self._bootstrapped(secret, copy, copy + 1) if self.proper else self._plans

        def blocks() -> Iterator[Any]:
            done = 0
            with enough_memory(min(n, BLOCK), 1, len(self._variables)):
                for levels in self._blocks(plans, n, secret, copy):
                    done += next(iter(levels.values())).codes.size
                    yield palette.paint({variable.name: levels.pop(variable.name) for variable in self._variables})
                    if self.progress:
                        self.progress(done, n, f"records of copy {copy + 1}")

        return blocks()

    def log_prob(self, release: Any) -> LogProbability:
        """Natural logarithm of the probability that this fit gives to a release.

        ``log P(Z) = sum over variables and records of log(donors in the leaf with the value / donors in the leaf)``,
        and with ``mix`` of the logarithm of ``(1 - mix)`` times this share plus ``mix`` times that among all donors.

        Parameters
        ----------
        release
            A file or frame with the variables of the original, and any number of records.

        Returns
        -------
        LogProbability
            Sum, by variable and by record; ``-inf`` and the first impossible value if there is one.

        Raises
        ------
        CallError
            If nothing is fitted, ``proper`` is set, or a variable's method has no probabilities.
        DataError
            If the release lacks a column or its values cannot be compared.

        Examples
        --------
        >>> import pyarrow as pa
        >>> original = pa.table({"ill": ["no", "no", "no", "yes"]})
        >>> fitted = CartSynthesizer().fit(original)
        >>> fitted.log_prob(pa.table({"ill": ["yes", "no"]})).records.round(3).tolist()
        [-1.386, -0.288]
        >>> fitted.log_prob(pa.table({"ill": ["no", "often"]})).first_impossible
        ImpossibleCell(column='ill', record=1, value='often')
        """
        self._fitted()
        require_no_strata(self.by)
        if self.proper:
            raise CallError(
                "with proper=True a release has no single probability: it is a mixture over bootstrap samples"
            )
        return log_probability(self._plans, open_release(release, self._variables))

    def planned(self, variables: Sequence[EncodedVariable], by: Sequence[str] = ()) -> tuple[Plan, ...]:
        """Order, predictors and methods of some variables by the settings; nothing is fitted.

        Parameters
        ----------
        variables
            All variables of a file.
        by
            Those that make the strata.

        Raises
        ------
        CallError
            If an option names a column or value that the file does not have, or a variable that is not yet synthesised
            when it is needed.
        """
        names = [variable.name for variable in variables]
        stated = stated_rules(self.rules)
        kept = kept_columns(self.keep, names, stated, self.visit_order)
        rules = parse_rules(stated, {variable.name: variable for variable in variables})
        methods, parts = choose_methods(names, self.cart, self.methods, self.smoothing)
        # constant in every stratum, and to stay so
        methods, parts = methods | dict.fromkeys(by, self.cart), parts | dict.fromkeys(by, self.cart)
        return draw_plan(
            variables,
            visit_order=self.visit_order,
            predictors=self.predictors,
            methods=methods,
            without_predictors=METHODS["sample"](),
            parts=parts,
            rules=rules,
            carried={name for name, method in methods.items() if carries_recodings(method)},
            kept=kept,
            released=released_records(
                self.replace_rows, variables, variables[0].label, self.cart.settings.smallest_split
            ),
        )

    @property
    def plans(self) -> tuple[Plan, ...]:
        """The fitted variables in the order of synthesis."""
        self._fitted()
        require_no_strata(self.by)
        require_whole(self.keep, self.replace_rows)
        return self._plans

    @property
    def is_partial(self) -> bool:
        """Whether columns or records are released as they are in the original."""
        return self.keep is not None or self.replace_rows is not None

    @property
    def tells_bootstrap(self) -> bool:
        """Whether a method says that intruders are told the seed of the fit (``bootstrap_known``)."""
        given = self.methods.values() if isinstance(self.methods, Mapping) else (self.methods,)
        return any(getattr(method, "bootstrap_known", False) for method in given)

    @property
    def told_seed(self) -> int | None:
        """Seed of the fit, if intruders are told it; no other is kept."""
        return self._told_seed

    @property
    def strata(self) -> tuple[Stratum, ...]:
        """The strata in the order of their values, each with its fitted variables; none without ``by``."""
        self._fitted()
        return self._strata

    @property
    def sequences(self) -> tuple[tuple[Plan, ...], ...]:
        """The fitted variables of every stratum; without strata those of the file."""
        return tuple(stratum.plans for stratum in self._strata) or (self._plans,)

    def trees(self) -> dict[str, FittedCart]:
        """Return the fitted trees by part, in the order of synthesis; parts without a tree are left out."""
        self._fitted()
        require_no_strata(self.by)
        return _trees(self._plans)

    def leaves(self) -> dict[str, int]:
        """Return the number of leaves by part, in the order of synthesis and of all strata: 1 for parts without a tree.

        Raises
        ------
        CallError
            If nothing is fitted.
        """
        self._fitted()
        found: dict[str, int] = {}
        for sequence in self.sequences:
            trees = _trees(sequence)
            for step in (step for plan in sequence for step in plan.steps):
                leaves = trees[step.name].tree.n_leaves if step.name in trees else 1
                found[step.name] = found.get(step.name, 0) + leaves
        return found

    def dependence(self) -> dict[str, Dependence]:
        """Return by part the leaves and the mutual information (bits) of leaf and value, before and after collapse.

        Raises
        ------
        CallError
            If nothing is fitted.
        """
        self._fitted()
        return {name: fitted.tree.dependence() for name, fitted in self.trees().items()}

    @commands_shown
    def __repr__(self) -> str:
        if self._palette is None:
            return "<CartSynthesizer: not fitted; call fit(original)>"
        n, p = self._variables[0].codes.size, len(self._variables)
        parts = f"{len(self._strata)} strata, " if self._strata else ""
        leaves = sum(self.leaves().values())
        return f"<CartSynthesizer: {p} variables, {n} records, {parts}{leaves} leaves; call sample()>"

    def _n_records(self, asked: int | None) -> int:
        """Return the number of records of a copy."""
        n: int = self._variables[0].codes.size
        if asked is not None and asked != n and self.is_partial:
            raise CallError(
                f"a partially synthetic file has the {n} records of the original, not {asked!r}; leave k out"
            )
        return n if asked is None else asked

    def _fitted(self) -> Palette:
        if self._palette is None:
            raise CallError("nothing is fitted yet; call fit(original) first")
        return self._palette

    def _blocks(self, plans: Sequence[Plan], n: int, seed: int, copy: int) -> Iterator[dict[str, Levels]]:
        if self._strata:
            return draw_strata(self._strata, n, seed, copy)
        return draw_blocks(plans, n, seed, (1, copy))

    def _bootstrapped(self, seed: int, copy: int, m: int) -> tuple[Plan, ...]:
        """Return the variables fitted to the bootstrap sample of a copy, one of ``m``."""
        n = self._variables[0].codes.size
        records = generator(seed, 2, copy).integers(n, size=n)

        def done(count: int, total: int, name: str) -> None:
            if self.progress:
                self.progress(copy * total + count, m * total, f"{name} of copy {copy + 1}")

        return fit_plans(self._plans, seed, (3, copy), records=records, threads=self.threads, progress=done)


def _trees(sequence: Sequence[Plan]) -> dict[str, FittedCart]:
    fits = ((step.name, step.fitted) for plan in sequence for step in plan.steps)
    return {name: fitted for name, fitted in fits if isinstance(fitted, FittedCart)}
