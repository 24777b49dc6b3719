"""Every case of the table of acceptance cases, and what shows that it holds.

A case is shown by attacks of this suite (those whose row names it), by figures, and by tests; or there is a reason why
it is not shown. `check` finds what the table names and what is not there.
"""

# ruff: noqa: E501 - a row of the table is a line
from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from tests.adversarial.containment import CASES

ROOT = Path(__file__).parents[2]
GROUPS = {"A": 18, "B": 34, "C": 18, "D": 12, "E": 22, "F": 8, "G": 18, "H": 14, "I": 8, "J": 14, "K": 8}
ALL_IDS = tuple(f"{group}{number:02}" for group, count in GROUPS.items() for number in range(1, count + 1))

TESTS: dict[str, str] = {
    "A01": "adversarial/test_paths: test_a01_a11_no_way_out",
    "A02": "adversarial/test_paths: test_a01_a11_no_way_out",
    "A03": "adversarial/test_paths: test_a01_a11_no_way_out",
    "A04": "adversarial/test_paths: test_a01_a11_no_way_out",
    "A05": "adversarial/test_paths: test_a01_a11_no_way_out",
    "A06": "adversarial/test_paths: test_a01_a11_no_way_out",
    "A07": "adversarial/test_paths: test_a01_a11_no_way_out",
    "A08": "adversarial/test_paths: test_a08_no_race_leads_out; workspace/test_races: test_the_workspace_itself_leaks_nothing",
    "A09": "adversarial/test_paths: test_a01_a11_no_way_out; workspace/test_paths: test_a_hard_link_outside_is_not_changed",
    "A10": "adversarial/test_rest: test_a10_no_tool_takes_a_directory_to_run_in",
    "A11": "adversarial/test_paths: test_a01_a11_no_way_out; workspace/test_paths: test_reads_that_are_refused",
    "A12": "workspace/test_paths: test_writes_that_are_refused",
    "A13": "workspace/test_paths: test_writes_that_are_refused",
    "A14": "workspace/test_paths: test_writes_that_are_refused",
    "A15": "agents/test_agents: test_one_bad_edit_undoes_the_others",
    "A16": "store/test_directory: test_a_private_file_replaces_a_planted_link_and_does_not_follow_it",
    "A17": "workspace/test_paths: test_reads_that_are_refused",
    "A18": "workspace/test_listing: test_refused_listings test_patterns; tools/test_search: test_more_files_than_are_shown",
    "B15": "sandbox/tripwire/test_tripwire: test_new_things_are_kept_in_quarantine_as_they_were",
    "C05": "web/test_guard: test_hostile_urls_are_refused",
    "C06": "web/test_guard: test_hostile_urls_are_refused",
    "C07": "web/test_guard: test_hostile_urls_are_refused",
    "C08": "web/test_guard: test_hostile_urls_are_refused",
    "C09": "web/test_guard: test_hostile_urls_are_refused",
    "C10": "web/test_guard: test_the_name_is_looked_up_once_and_that_address_is_asked",
    "C11": "web/test_guard: test_hostile_urls_are_refused",
    "C12": "web/test_guard: test_a_redirect_to_a_hostile_url_is_refused test_redirects_are_counted test_each_hop_is_looked_up_anew",
    "C13": "web/test_fetch: test_a_compression_bomb_is_refused_unread test_an_endless_body_is_cut_at_the_bound test_a_byte_at_a_time_ends_in_time",
    "C14": "web/test_fetch: test_broken_answers_are_clean_errors",
    "C15": "web/test_fetch: test_no_cookie_proxy_or_stored_password_is_used",
    "C16": "web/test_guard: test_a_url_with_a_known_secret_is_refused_also_after_a_redirect",
    "C17": "adversarial/test_rest: test_c17_codur_listens_to_nobody",
    "D05": "adversarial/test_rest: test_d05_a_neighbour_cannot_read_the_key_from_codurs_environment",
    "D06": "session/record/test_resume: test_no_secret_is_kept; session/test_records: test_texts_are_redacted",
    "D07": "config/test_project_rules: test_what_does_not_narrow_is_ignored_and_told",
    "D08": "llm/test_failures: test_the_key_is_in_no_error_event_or_repr",
    "D09": "session/record/test_resume: test_no_secret_is_kept; session/test_records: test_only_the_owner_may_look",
    "E03": "adversarial/test_rest: test_e03_e04_nothing_of_the_workspace_is_loaded_into_codur; cli/test_hijack: test_env_files_are_not_loaded",
    "E04": "adversarial/test_rest: test_e03_e04_nothing_of_the_workspace_is_loaded_into_codur; cli/test_hijack: test_modules_of_the_workspace_are_not_imported",
    "E05": "sandbox/test_containment: test_programs_of_the_workspace_are_not_found_by_name; cli/test_hijack: test_programs_of_the_workspace_are_not_started",
    "E07": "config/test_project_rules: test_what_does_not_narrow_is_ignored_and_told",
    "E08": "cli/test_trust: test_accepted_counts_until_it_changes",
    "E09": "tools/git/test_git_reading: test_a_hostile_repository_executes_nothing",
    "E10": "tools/git/test_git_reading: test_a_repository_that_leads_elsewhere_is_refused test_another_work_tree_is_not_read",
    "E11": "workspace/history/test_undo_run: test_git_is_never_touched",
    "E12": "tools/test_web_tools: test_orders_in_a_page_or_a_file_lead_nowhere",
    "E13": "tools/test_web_tools: test_orders_in_a_page_or_a_file_lead_nowhere test_what_a_page_says_is_marked_and_cleaned",
    "E14": "planning/test_approval: test_an_approval_covers_no_other_program_file_or_effect",
    "E15": "cli/test_plan: test_nothing_of_a_plan_acts_on_the_terminal; planning/test_approval: test_a_long_command_is_shown_to_its_end_and_many_are_counted",
    "E16": "tools/test_web_tools: test_orders_in_a_page_or_a_file_lead_nowhere",
    "E19": "workspace/test_paths: test_writes_that_are_refused; sandbox/tripwire/test_tripwire: test_a_change_is_told_and_undone",
    "D04": "tools/test_withheld: test_every_tool_that_takes_a_path_keeps_the_secret; runs/test_context: test_a_file_of_secrets_is_not_shown_even_if_it_is_named",
    "J13": "tools/files/test_apply_patch: test_bad_patches_change_nothing test_one_hunk",
    "E20": "runs/test_faults: test_an_edit_of_the_expected_output_is_refused; runs/test_plans: test_hiding_the_tests_is_no_success",
    "E21": "adversarial/test_verification: test_k02_a_program_that_prints_the_expected_output_fails",
    "E22": "tools/git/test_git_reading: test_bad_arguments; adversarial/test_malformed: test_j09_words_that_look_like_options_stay_words",
    "F01": "ui/test_sanitise: test_attacks_become_visible",
    "F02": "ui/test_sanitise: test_attacks_become_visible",
    "F03": "ui/test_sanitise: test_attacks_become_visible",
    "F04": "ui/test_sanitise: test_attacks_become_visible",
    "F05": "ui/test_sanitise: test_output_is_safe_and_stays_as_it_is",
    "F06": "ui/test_sanitise: test_output_is_safe_and_stays_as_it_is test_a_megabyte_of_the_worst_kind",
    "F07": "ui/test_output_formats: test_foreign_text_is_sanitised_everywhere",
    "F08": "ui/test_rich: test_colour_stays_out_of_a_stream_that_is_no_terminal test_no_colour_means_no_control_codes",
    "G01": "llm/test_failures: test_the_service_says_how_long_to_wait_at_least",
    "G02": "llm/test_failures: test_the_service_says_how_long_to_wait_at_least test_a_rate_limit_too_far_away_ends_the_run_without_waiting",
    "G03": "llm/test_failures: test_what_does_not_pass_is_not_sent_again",
    "G04": "llm/test_failures: test_what_may_pass_is_sent_again test_waits_double_up_to_the_cap_and_end_with_the_attempts test_waits_are_spread_by_chance",
    "G05": "adversarial/test_protocol: test_g05_what_cannot_be_reached_is_tried_within_bounds_and_told; runs/test_faults: test_a_refused_connection_is_exit_3",
    "G06": "adversarial/test_protocol: test_g06_g07_an_answer_cut_at_any_byte_is_never_carried_out",
    "G07": "adversarial/test_protocol: test_g06_g07_an_answer_cut_at_any_byte_is_never_carried_out",
    "G08": "adversarial/test_protocol: test_g08_a_call_in_an_answer_that_was_cut_off_is_not_carried_out",
    "G09": "llm/test_answers: test_an_answer_is_read test_ids_that_are_missing_or_the_same_are_replaced; agents/test_agents: test_calls_that_go_wrong_are_told_and_change_nothing",
    "G10": "adversarial/test_protocol: test_g10_an_edit_goes_with_the_one_beside_it_that_cannot_be_made",
    "G11": "llm/test_answers: test_an_answer_without_end_is_not_read_to_its_end; adversarial/test_protocol: test_g11_an_answer_in_many_bytes_and_odd_forms_is_read",
    "G12": "llm/test_failures: test_a_slow_service_is_a_timeout_and_tried_again; llm/test_pool: test_a_cancelled_question_stays_cancelled_and_leaves_no_connection",
    "G13": "llm/test_answers: test_an_unusable_answer_is_an_error_that_counts",
    "G14": "adversarial/test_protocol: test_g14_a_call_that_is_repeated_is_not_carried_out_again",
    "G15": "adversarial/test_protocol: test_g15_a_cycle_of_calls_ends test_g15_the_same_wrong_edit_again_and_again_ends",
    "G16": "adversarial/test_protocol: test_g16_a_request_that_is_too_long_is_not_sent_without_end",
    "G17": "adversarial/test_protocol: test_g17_a_budget_holds_whatever_the_usage_says; llm/test_answers: test_usage_that_cannot_be_true_is_estimated",
    "G18": "adversarial/test_protocol: test_g18_a_thousand_calls_in_one_answer_are_capped",
    "H01": "workspace/test_kill: test_twenty_kills; store/test_directory: test_strays_of_dead_processes_are_swept_and_nothing_else",
    "H02": "session/record/test_resume: test_killed_again_and_again",
    "H03": "adversarial/test_crash: test_h03_nothing_is_left_when_codur_is_killed",
    "H04": "cli/test_interrupt: test_programs_that_do_not_want_to_end test_twice_leaves_at_once",
    "H05": "store/test_append_log: test_a_full_disk_is_told_and_the_log_stays_whole; store/test_blobs: test_a_file_too_large_for_the_system_is_told_and_leaves_nothing",
    "H06": "cli/test_bad_input: test_a_directory_that_may_not_be_written; store/test_directory: test_a_read_only_place_is_told",
    "H08": "workspace/history/test_undo_run: test_what_tools_changed_comes_back test_what_programs_changed_comes_back test_a_file_of_fifty_megabytes",
    "H09": "workspace/history/test_undo_run: test_the_users_later_edits_stay test_a_conflict_copy_overwrites_nothing",
    "H10": "workspace/history/test_undo_run: test_git_is_never_touched test_a_worktree_of_git_stays_one",
    "H11": "workspace/test_kill: test_twenty_kills; workspace/history/test_undo_run: test_a_program_that_was_cut_off",
    "H12": "store/test_forget: test_the_size_is_a_bound; workspace/history/test_program_changes: test_a_workspace_with_too_many_files_is_told_and_its_unseen_files_are_safe",
    "H13": "store/test_append_log: test_every_flipped_bit_is_found test_damage_is_told_and_the_file_is_kept; session/record/test_resume: test_a_newer_record_is_told_and_left",
    "H14": "store/test_append_log: test_a_log_cut_anywhere_keeps_its_whole_lines",
    "I01": "store/test_workspace_lock: test_no_update_is_lost_between_processes; cli/test_resume: test_a_second_run_in_a_directory_names_the_first",
    "I03": "batch/test_batch_run: test_many_at_a_time_give_the_results_of_one_after_the_other",
    "I02": "workspace/test_changes: test_a_file_changed_meanwhile_is_refused",
    "I04": "store/test_workspace_lock: test_a_dead_holder_does_not_count test_without_file_locks_the_user_is_warned",
    "I06": "workspace/test_races: test_a_workspace_that_is_replaced_is_noticed; sandbox/tripwire/test_tripwire: test_a_workspace_that_is_gone_is_told",
    "I08": "agents/test_agents: test_all_edits_of_an_answer_are_applied",
    "J01": "adversarial/test_malformed: test_j01_j02_bytes_outside_the_change_stay; workspace/test_text: test_untouched_lines_keep_their_bytes",
    "J02": "adversarial/test_malformed: test_j02_j03_what_is_no_text_is_refused_and_stays; workspace/test_text: test_encode_keeps_the_form",
    "J03": "adversarial/test_malformed: test_j02_j03_what_is_no_text_is_refused_and_stays",
    "J04": "adversarial/test_malformed: test_j04_odd_names_are_names",
    "D11": "mcp/test_hostile: test_d11_it_gets_its_own_variables_alone",
    "E01": "mcp/test_command: test_e01_a_project_starts_no_server",
    "E17": "mcp/test_hostile: test_names_and_descriptions_are_cleaned_cut_and_their_own test_only_so_many_tools_are_taken test_a_tool_that_changes_between_calls_is_refused; mcp/test_command: test_e17_a_changed_tool_is_asked_about_again",
    "E18": "mcp/test_hostile: test_a_server_that_misbehaves_is_one_error test_what_a_server_asks_of_the_client_is_denied; mcp/test_http: test_a_server_that_misbehaves_is_one_error",
    "J05": "adversarial/test_malformed: test_j05_a_deep_tree_and_a_long_path_end_in_order",
    "J06": "adversarial/test_malformed: test_j06_empty_inputs_have_a_defined_result",
    "J07": "config/test_errors: test_a_broken_file_of_the_user test_aliases_cannot_explode test_no_more_is_read_than_a_settings_file_may_hold; cli/test_bad_input: test_broken_settings",
    "J09": "adversarial/test_malformed: test_j09_words_that_look_like_options_stay_words; tools/git/test_git_reading: test_bad_arguments",
    "J10": "tools/test_search: test_a_pattern_that_takes_for_ever_is_stopped",
    "J12": "tools/code/test_edit_tools: test_refused_edits_change_nothing",
    "J14": "adversarial/test_malformed: test_j14_poor_surroundings_work test_j14_no_home_and_closed_streams_work; cli/test_commands: test_closed_streams_are_no_fault",
    "K02": "adversarial/test_verification: test_k02_a_program_that_prints_the_expected_output_fails",
    "K03": "adversarial/test_verification: test_k03_a_check_cannot_be_told_from_a_run",
    "K04": "adversarial/test_verification: test_k04_nothing_edits_the_program_after_its_check",
    "K05": "adversarial/test_verification: test_k05_the_rule_of_comparison test_k05_a_gigabyte_is_bounded",
    "K07": "batch/engines/test_worker_supervisor: test_killed_itself_it_leaves_no_process_and_is_gone_on_with",
    "K06": "adversarial/test_verification: test_k06_a_program_that_is_right_now_and_then_is_flaky",
    "K08": "batch/test_batch_run: test_each_is_solved_in_a_copy_and_one_bad_one_costs_only_itself",
}
"""`file: test test; file: test`, below `tests/`."""

EXTRA_ATTACKS: dict[str, tuple[str, ...]] = {
    "K01": ("r-other", "w-abs", "w-dotdot"),
    "E06": ("ok-pytest", "w-home-new", "r-home"),
    "D10": ("r-env", "r-home"),
}
"""Attacks that show a further case than the one that their row names."""

NOT_SHOWN: dict[str, str] = {
    "C18": "there is no server mode",
    "D12": "no option and no argument takes a key",
    "E02": "there are no hooks, commands or agents of a project that could be executed",
    "H07": "there are no chains of commands",
    "I05": "runs write no file in common except under the lock that I01 shows",
    "I07": "a test cannot set the clock without touching the machine",
    "J08": "nothing is unpacked",
    "J11": "no images, documents or notebooks are read",
}


@dataclass(frozen=True)
class Evidence:
    """What shows a case.

    Attributes:
        attacks: names of attacks of this suite.
        tests: `tests/file.py::test`.
        missing: why nothing does.
    """

    attacks: tuple[str, ...]
    tests: tuple[str, ...]
    missing: str = ""


def evidence(case: str) -> Evidence:
    """What shows one case."""
    attacks = tuple(item.name for item in CASES if item.table == case) + EXTRA_ATTACKS.get(case, ())
    tests = []
    for part in filter(None, TESTS.get(case, "").split(";")):
        file, _, names = part.strip().partition(": ")
        tests += [f"tests/{file}.py::{name}" for name in names.split()]
    return Evidence(attacks=attacks, tests=tuple(tests), missing=NOT_SHOWN.get(case, ""))


def faults() -> list[str]:
    """What is wrong with the table: cases without a word, and tests or attacks that are not there."""
    found = []
    known = {case.name for case in CASES}
    for case in ALL_IDS:
        shown = evidence(case)
        if bool(shown.attacks or shown.tests) == bool(shown.missing):
            found.append(f"{case} must be shown by something, or say why not")
        found += [f"{case}: there is no attack {name}" for name in shown.attacks if name not in known]
        for test in shown.tests:
            file, _, name = test.partition("::")
            if name not in _tests_in(file):
                found.append(f"{case}: there is no {test}")
    return found


@lru_cache(maxsize=256)
def _tests_in(file: str) -> frozenset[str]:
    path = ROOT / file
    if not path.is_file():
        return frozenset()
    return frozenset(node.name for node in ast.parse(path.read_text()).body if isinstance(node, ast.FunctionDef))
