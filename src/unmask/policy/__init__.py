"""What is acceptable: policies of conditions, each with who asks for it, and the verdicts on what was found."""

from unmask.policy.condition import Condition
from unmask.policy.policies import Policy, Requirement, read_policies, read_policy
from unmask.policy.verdict import Criterion, Judged, Verdict, judge

__all__ = [
    "Condition", "Criterion", "Judged", "Policy", "Requirement", "Verdict", "judge", "read_policies", "read_policy"
]  # fmt: skip
