"""The V2 loop's tests, run on the legacy loop.

Excluded are those about events that V2 emits while the model still sends; test_legacy.py has their counterparts.
"""

from collections.abc import Iterator

import pytest
from signalbox.chat.loops.legacy import LegacyLoop

from tests.support import loop_runs
from tests.unit.chat.loops.test_event_order import (
    test_any_run_keeps_the_order,
    test_distinct_searches_never_exceed_the_limit,
    test_the_scripts_reach_every_ending,
)
from tests.unit.chat.loops.test_v2 import (
    test_a_call_without_arguments,
    test_a_repeated_eager_call_runs_once,
    test_a_run_without_tools,
    test_calls_run_after_any_successful_finish_reason,
    test_concatenated_calls_each_run,
    test_many_steps,
    test_missing_arguments_are_named,
    test_no_tool_ends_the_run,
    test_reasoning_names_its_step,
    test_ten_parallel_calls,
    test_text_of_several_steps_is_separated,
    test_the_first_text_has_no_break,
    test_tool_calls_without_calls_is_an_answer,
    test_unknown_calls_do_not_end_the_run,
    test_upstream_ids_and_details_are_sent_back_unchanged,
)
from tests.unit.chat.loops.test_v2_answers import (
    test_a_blank_turn_is_followed_by_a_finalize,
    test_a_finalize_of_only_calls_counts_as_empty,
    test_a_forced_choice_applies_to_the_first_step_only,
    test_a_productive_step_resets_the_count,
    test_an_empty_finalize_is_repeated_once,
    test_blank_turns_without_any_call_are_an_error,
    test_calls_of_a_finalize_are_dropped,
    test_clamped_steps_are_unproductive,
    test_dropped_parameters_are_reported_first,
    test_max_steps_counts_every_model_call,
    test_max_steps_without_tools,
    test_no_step_warning_for_an_answer_in_time,
    test_tool_choice_none_runs_no_call,
    test_two_empty_finalizes_end_in_a_synthetic_answer,
    test_two_unproductive_steps_lead_to_the_finalize,
)
from tests.unit.chat.loops.test_v2_failures import (
    test_a_failure_before_anything_visible_is_retried,
    test_a_failure_in_a_later_step_keeps_the_text,
    test_a_finish_without_done_is_complete,
    test_a_long_wait_is_reported,
    test_a_refusal_is_content_and_an_ending,
    test_a_step_cut_by_its_limit_runs_no_call,
    test_a_truncated_call_is_recognised_by_its_arguments,
    test_an_internal_error_is_reported_without_text,
    test_at_most_three_attempts,
    test_done_alone_with_text_is_complete_and_without_is_not,
    test_eof_without_finish_is_interrupted,
    test_length_without_calls_ends_the_run,
    test_rejections_are_reported_at_once,
    test_unreadable_frames_are_reported,
)
from tests.unit.chat.loops.test_v2_stop import (
    test_stop_after_any_number_of_ticks,
    test_stop_before_the_first_byte,
    test_stop_between_steps,
    test_stop_while_reading,
    test_stop_while_sleeping_for_a_retry,
    test_the_context_of_a_stopped_run_can_be_sent_again,
)

pytestmark = pytest.mark.anyio

__all__ = [
    "test_a_blank_turn_is_followed_by_a_finalize",
    "test_a_call_without_arguments",
    "test_a_failure_before_anything_visible_is_retried",
    "test_a_failure_in_a_later_step_keeps_the_text",
    "test_a_finalize_of_only_calls_counts_as_empty",
    "test_a_finish_without_done_is_complete",
    "test_a_forced_choice_applies_to_the_first_step_only",
    "test_a_long_wait_is_reported",
    "test_a_productive_step_resets_the_count",
    "test_a_refusal_is_content_and_an_ending",
    "test_a_repeated_eager_call_runs_once",
    "test_a_run_without_tools",
    "test_a_step_cut_by_its_limit_runs_no_call",
    "test_a_truncated_call_is_recognised_by_its_arguments",
    "test_an_empty_finalize_is_repeated_once",
    "test_an_internal_error_is_reported_without_text",
    "test_any_run_keeps_the_order",
    "test_at_most_three_attempts",
    "test_blank_turns_without_any_call_are_an_error",
    "test_calls_of_a_finalize_are_dropped",
    "test_calls_run_after_any_successful_finish_reason",
    "test_clamped_steps_are_unproductive",
    "test_concatenated_calls_each_run",
    "test_distinct_searches_never_exceed_the_limit",
    "test_done_alone_with_text_is_complete_and_without_is_not",
    "test_dropped_parameters_are_reported_first",
    "test_eof_without_finish_is_interrupted",
    "test_length_without_calls_ends_the_run",
    "test_many_steps",
    "test_max_steps_counts_every_model_call",
    "test_max_steps_without_tools",
    "test_missing_arguments_are_named",
    "test_no_step_warning_for_an_answer_in_time",
    "test_no_tool_ends_the_run",
    "test_reasoning_names_its_step",
    "test_rejections_are_reported_at_once",
    "test_stop_after_any_number_of_ticks",
    "test_stop_before_the_first_byte",
    "test_stop_between_steps",
    "test_stop_while_reading",
    "test_stop_while_sleeping_for_a_retry",
    "test_ten_parallel_calls",
    "test_text_of_several_steps_is_separated",
    "test_the_context_of_a_stopped_run_can_be_sent_again",
    "test_the_first_text_has_no_break",
    "test_the_scripts_reach_every_ending",
    "test_tool_calls_without_calls_is_an_answer",
    "test_tool_choice_none_runs_no_call",
    "test_two_empty_finalizes_end_in_a_synthetic_answer",
    "test_two_unproductive_steps_lead_to_the_finalize",
    "test_unknown_calls_do_not_end_the_run",
    "test_unreadable_frames_are_reported",
    "test_upstream_ids_and_details_are_sent_back_unchanged",
]


@pytest.fixture(scope="module", autouse=True)
def _by_legacy() -> Iterator[None]:
    """Run every test of this module on the legacy loop."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop_runs, "V2Loop", LegacyLoop)
        yield
