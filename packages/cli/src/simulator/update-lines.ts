import type { Rule } from '@call-webhooks/simulator';
import type { Output } from '../terminal/output.ts';
import type { Colors } from '../terminal/colors.ts';
import { t, type Text } from '../terminal/text.ts';
import { attemptLines, createExplainer } from './attempt-lines.ts';
import type { Update } from './updates.ts';

/** Creates a printer of attempts, and of rules that are paused or resumed, as they happen. */
export function createUpdatePrinter(output: Output): (update: Update) => Promise<void> {
  const explain = createExplainer();
  return (update) =>
    output.print(recordOf(update), (colors) =>
      update.type === 'rule'
        ? ruleLine(colors, update.rule)
        : [
            ...attemptLines(colors, output.columns, update.delivery, update.attempt),
            ...explain(colors, output.columns, update.attempt),
          ],
    );
}

function ruleLine(colors: Colors, { _id, name, state, pauseReason }: Rule): Text {
  if (state === 'active') return colors.green(t`The rule "${name}" (${_id}) was resumed.`);
  const reason =
    pauseReason === 'answered-404'
      ? 'the receiver returned 404'
      : pauseReason === 'last-attempt-failed'
        ? 'the last attempt failed'
        : 'by hand';
  return colors.red(
    t`The rule "${name}" was paused: ${reason}. To resume it: call-webhooks rules resume ${_id}`,
  );
}

/** An update as JSON. */
function recordOf(update: Update): object {
  if (update.type === 'rule') return update;
  const { attempts: _all, ...delivery } = update.delivery;
  return { type: 'attempt', delivery, attempt: update.attempt };
}
