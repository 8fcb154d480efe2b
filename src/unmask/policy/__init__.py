"""Policies of acceptable results: conditions with their sources, and verdicts on the results of a release."""

from unmask.policy.condition import Condition
from unmask.policy.policies import Policy, Requirement, read_policies, read_policy
from unmask.policy.verdict import Assessment, Criterion, Verdict, judge, judge_result

__all__ = [
    "Assessment", "Condition", "Criterion", "Policy", "Requirement", "Verdict", "judge", "judge_result",
    "read_policies", "read_policy",
]  # fmt: skip
