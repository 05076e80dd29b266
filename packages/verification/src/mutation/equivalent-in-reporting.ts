import { AT_IMPORT, FASTER } from './reasons.ts';

/** The changes of core's log lines, hooks and outcomes that do no harm, as `EQUIVALENT` has them. */
export const IN_REPORTING = {
  'packages/core/src/outcome/outcomes.ts': {
    '\'acknowledged\' → ""': AT_IMPORT,
    '\'retried\' → ""': AT_IMPORT,
    '\'Nothing to do.\' → ""': AT_IMPORT,
  },
  'packages/core/src/outcome/webhook-error.ts': {
    'true → false': 'it is only asked whether the mark is there',
    '\'https://call-webhooks.github.io/call-webhooks/\' → ""': AT_IMPORT,
    "(page: string): string => SITE + page.replace(/\\.md(?=#|$)/, '.html') → () => undefined":
      AT_IMPORT,
  },
  'packages/core/src/reporting/console-line.ts': {
    '\'\' → "Stryker was here!"': 'a stack without frames adds nothing',
    'value === null → false': 'JSON has the same text',
  },
  'packages/core/src/reporting/hooks.ts': {
    'CHANNELS.outcome?.hasSubscribers === true → true': FASTER,
    'CHANNELS.outcome?.hasSubscribers → CHANNELS.outcome.hasSubscribers':
      'edge.test.ts notices it, which Stryker does not run',
    'onError && failure → true':
      'without a failure nothing was thrown, and a hook that is not there does nothing',
    'onError && failure → onError || failure':
      'without a failure nothing was thrown, and a hook that is not there does nothing',
    'onError → true': 'a hook that fails, as one that is not there does, changes nothing',
    'thrown.length === 0 → false': FASTER,
  },
  'packages/core/src/reporting/logged-error.ts': {
    '\'standard\' → ""': 'the text is replaced by the same text',
    "redact !== 'standard' → true": 'the text is replaced by the same text',
  },
  'packages/core/src/reporting/reporter.ts': {
    'outcome.status >= 400 → outcome.status > 400': 'no outcome has the status 400',
    'STATUS[code as OutcomeCode] >= 400 → STATUS[code as OutcomeCode] > 400':
      'no outcome has the status 400',
  },
};
