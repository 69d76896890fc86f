"""The V2 loop's tests, run on the legacy loop.

Excluded are those about events that V2 emits while the model still sends; test_legacy.py has their counterparts.
"""

from collections.abc import Iterator

import pytest
from signalbox.chat.loops.legacy import LegacyLoop

from tests.support import loop_runs
from tests.unit.chat.loops.test_event_order import (
    test_any_run_keeps_the_order,
    test_distinct_searches_never_pass_the_limit,
    test_the_scripts_reach_every_ending,
)
from tests.unit.chat.loops.test_v2 import (
    test_a_call_that_was_right_from_the_start_runs_once,
    test_a_call_without_arguments,
    test_calls_run_after_any_good_ending,
    test_glued_calls_run_each,
    test_many_steps,
    test_missing_arguments_are_told_by_name,
    test_no_break_where_nothing_was_said_before,
    test_no_tool_ends_the_run,
    test_no_tools_at_all,
    test_reasoning_of_every_step_leaves_and_names_its_step,
    test_ten_parallel_calls,
    test_text_before_a_call_is_kept_and_the_next_begins_after_a_break,
    test_tool_calls_without_calls_is_an_answer,
    test_unknown_calls_are_answered_and_the_run_goes_on,
    test_upstream_ids_and_details_go_back_as_they_came,
)
from tests.unit.chat.loops.test_v2_answers import (
    test_a_blank_turn_is_asked_to_answer,
    test_a_finalize_of_calls_alone_counts_as_empty,
    test_a_forced_choice_binds_the_first_step_only,
    test_a_step_with_something_new_begins_the_count_again,
    test_an_empty_finalize_is_asked_once_more,
    test_clamped_steps_are_barren,
    test_dropped_parameters_are_told_once_and_first,
    test_max_steps_counts_every_model_call,
    test_max_steps_without_tools,
    test_no_step_warning_for_an_answer_in_time,
    test_silence_without_any_call_is_an_error,
    test_stubborn_calls_of_a_finalize_are_dropped,
    test_tool_choice_none_keeps_the_tools_off,
    test_two_barren_steps_lead_to_the_finalize,
    test_two_empty_finalizes_end_in_our_sentence,
)
from tests.unit.chat.loops.test_v2_failures import (
    test_a_cut_call_is_known_without_the_hosts_word,
    test_a_failure_before_anything_visible_is_tried_again,
    test_a_failure_in_a_later_step_keeps_what_was_said,
    test_a_fault_of_ours_is_told_without_its_text,
    test_a_finish_without_done_is_complete,
    test_a_long_wait_is_told,
    test_a_refusal_is_content_and_an_ending,
    test_a_step_cut_by_its_limit_runs_no_call_and_goes_on,
    test_done_alone_with_text_is_complete_and_without_is_not,
    test_eof_without_finish_is_interrupted,
    test_length_without_calls_ends_the_run,
    test_refusals_are_told_at_once,
    test_three_attempts_are_all,
    test_unreadable_frames_are_told_and_cost_nothing_else,
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
    "test_a_blank_turn_is_asked_to_answer",
    "test_a_call_that_was_right_from_the_start_runs_once",
    "test_a_call_without_arguments",
    "test_a_cut_call_is_known_without_the_hosts_word",
    "test_a_failure_before_anything_visible_is_tried_again",
    "test_a_failure_in_a_later_step_keeps_what_was_said",
    "test_a_fault_of_ours_is_told_without_its_text",
    "test_a_finalize_of_calls_alone_counts_as_empty",
    "test_a_finish_without_done_is_complete",
    "test_a_forced_choice_binds_the_first_step_only",
    "test_a_long_wait_is_told",
    "test_a_refusal_is_content_and_an_ending",
    "test_a_step_cut_by_its_limit_runs_no_call_and_goes_on",
    "test_a_step_with_something_new_begins_the_count_again",
    "test_an_empty_finalize_is_asked_once_more",
    "test_any_run_keeps_the_order",
    "test_calls_run_after_any_good_ending",
    "test_clamped_steps_are_barren",
    "test_distinct_searches_never_pass_the_limit",
    "test_done_alone_with_text_is_complete_and_without_is_not",
    "test_dropped_parameters_are_told_once_and_first",
    "test_eof_without_finish_is_interrupted",
    "test_glued_calls_run_each",
    "test_length_without_calls_ends_the_run",
    "test_many_steps",
    "test_max_steps_counts_every_model_call",
    "test_max_steps_without_tools",
    "test_missing_arguments_are_told_by_name",
    "test_no_break_where_nothing_was_said_before",
    "test_no_step_warning_for_an_answer_in_time",
    "test_no_tool_ends_the_run",
    "test_no_tools_at_all",
    "test_reasoning_of_every_step_leaves_and_names_its_step",
    "test_refusals_are_told_at_once",
    "test_silence_without_any_call_is_an_error",
    "test_stop_after_any_number_of_ticks",
    "test_stop_before_the_first_byte",
    "test_stop_between_steps",
    "test_stop_while_reading",
    "test_stop_while_sleeping_for_a_retry",
    "test_stubborn_calls_of_a_finalize_are_dropped",
    "test_ten_parallel_calls",
    "test_text_before_a_call_is_kept_and_the_next_begins_after_a_break",
    "test_the_context_of_a_stopped_run_can_be_sent_again",
    "test_the_scripts_reach_every_ending",
    "test_three_attempts_are_all",
    "test_tool_calls_without_calls_is_an_answer",
    "test_tool_choice_none_keeps_the_tools_off",
    "test_two_barren_steps_lead_to_the_finalize",
    "test_two_empty_finalizes_end_in_our_sentence",
    "test_unknown_calls_are_answered_and_the_run_goes_on",
    "test_unreadable_frames_are_told_and_cost_nothing_else",
    "test_upstream_ids_and_details_go_back_as_they_came",
]


@pytest.fixture(scope="module", autouse=True)
def _by_legacy() -> Iterator[None]:
    """Run every test of this module on the legacy loop."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop_runs, "V2Loop", LegacyLoop)
        yield
