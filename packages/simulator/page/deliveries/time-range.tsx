import { Field } from '@call-webhooks/ui';
import type { Filter } from '../state/delivery-window.ts';
import { store } from '../state/page-state.ts';

/** A time as the value of a `datetime-local` field, in the zone of the browser. */
function localText(ms: string | undefined): string {
  if (ms === undefined) return '';
  const at = Number(ms);
  return new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

/** Milliseconds since the epoch, as text. */
const timeOf = (local: string): string | undefined =>
  local === '' ? undefined : String(new Date(local).getTime());

interface RangeProps {
  readonly change: (by: Pick<Filter, 'from' | 'to'>) => void;
}

/** Two fields for the times between which deliveries were created. */
export function TimeRange({ change }: RangeProps) {
  const { from, to } = store.filter;
  const some = from !== undefined || to !== undefined;
  return (
    <details class="range">
      <summary class="chip">{some ? 'Time: a part' : 'Any time'}</summary>
      <div class="range-fields">
        <Field
          label="From"
          type="datetime-local"
          step={1}
          value={localText(from)}
          onChange={({ currentTarget }) => {
            change({ from: timeOf(currentTarget.value) });
          }}
        />
        <Field
          label="To"
          type="datetime-local"
          step={1}
          value={localText(to)}
          onChange={({ currentTarget }) => {
            change({ to: timeOf(currentTarget.value) });
          }}
        />
      </div>
    </details>
  );
}
