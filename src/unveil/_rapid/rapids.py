"""RAPID of several targets."""

from __future__ import annotations

from unveil._rapid.joint import JointRapid, joint_rapid
from unveil._rapid.result import Rapid
from unveil.result import Results


class Rapids(Results[Rapid]):
    """RAPID of several targets inferred from the same keys; a sequence of :class:`Rapid`."""

    _words = "words.rapid.several_targets"
    _drawing = "plots.rapid.plot_targets"

    def joint(self, *, permutations: int = 19, level: float = 0.95) -> JointRapid:
        """Who is at risk for all targets at once; see :class:`JointRapid`.

        The attacks on the release are those that were run. Each null trains a model per target anew.

        Parameters
        ----------
        permutations
            Number of shuffles of every target behind each null; 0 for no null.
        level
            Coverage of the intervals.

        Raises
        ------
        CallError
            If there is one target only, the targets have no attacker in common, or an option is out of its range.

        Examples
        --------
        >>> import unveil
        >>> people = unveil.simulate.demo_population(200, seed=1)
        >>> found = unveil.rapid(unveil.Pair(people, people.slice(0, 200)), ["sex", "age", "region", "placesize"],
        ...                      targets=["marital", "edu"], attacker="rf", permutations=0, ceiling=False)
        >>> row = found.joint(permutations=3).rows[0]
        >>> row["rate"] <= min(one.rate for one in found), row["null_mean"] < row["rate"]
        (True, True)
        """
        return joint_rapid(self._results, permutations=permutations, level=level, said=self.warnings)
