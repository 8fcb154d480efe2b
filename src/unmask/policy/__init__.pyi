"""Public names of `unmask.policy`."""

from unmask.policy.condition import Condition as Condition
from unmask.policy.policies import Policy as Policy
from unmask.policy.policies import Requirement as Requirement
from unmask.policy.policies import read_policies as read_policies
from unmask.policy.policies import read_policy as read_policy
from unmask.policy.verdict import Assessment as Assessment
from unmask.policy.verdict import Criterion as Criterion
from unmask.policy.verdict import Verdict as Verdict
from unmask.policy.verdict import judge as judge
from unmask.policy.verdict import judge_result as judge_result
