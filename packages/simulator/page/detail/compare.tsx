import { Button, Dialog, Select, Table, took } from '@call-webhooks/ui';
import { useState } from 'preact/hooks';
import { responseText } from '../state/labels.ts';
import { attemptName, type AttemptView } from './attempt-card.tsx';

interface Line {
  readonly name: string;
  readonly one: string;
  readonly other: string;
}

interface CompareProps {
  /** Two or more, the oldest first. */
  readonly attempts: readonly AttemptView[];
  readonly onClose: () => unknown;
}

/** Two attempts beside each other: what differs, or everything. */
export function Compare({ attempts, onClose }: CompareProps) {
  const [at, setAt] = useState([attempts.length - 2, attempts.length - 1] as const);
  const [all, setAll] = useState(false);
  const [one, other] = [attempts[at[0]], attempts[at[1]]];
  if (!one || !other) return null;
  const options = attempts.map((attempt, index) => [String(index), attemptName(attempt)] as const);
  const lines = linesOf(one, other);
  const shown = all ? lines : lines.filter((line) => line.one !== line.other);
  return (
    <Dialog title="Compare attempts" wide onClose={onClose}>
      <div class="chips">
        <Select
          label="First attempt"
          value={String(at[0])}
          options={options}
          onChange={(value) => {
            setAt([Number(value), at[1]]);
          }}
        />
        <Select
          label="Second attempt"
          value={String(at[1])}
          options={options}
          onChange={(value) => {
            setAt([at[0], Number(value)]);
          }}
        />
        <Button
          label="Equal parts too"
          kind="ghost"
          small
          pressed={all}
          onClick={() => {
            setAll(!all);
          }}
        />
      </div>
      <Table
        label="Differences"
        columns={[
          { name: 'Part', cell: ({ name }) => name },
          { name: attemptName(one), cell: (line) => <code>{line.one}</code> },
          { name: attemptName(other), cell: (line) => <code>{line.other}</code> },
        ]}
        rows={shown}
        keyOf={({ name }) => name}
        empty="The two are equal."
      />
      <form method="dialog" class="buttons">
        <button class="button primary">Close</button>
      </form>
    </Dialog>
  );
}

function linesOf(one: AttemptView, other: AttemptView): Line[] {
  const [left, right] = [partsOf(one), partsOf(other)];
  return [...new Set([...left.keys(), ...right.keys()])].map((name) => ({
    name,
    one: left.get(name) ?? 'none',
    other: right.get(name) ?? 'none',
  }));
}

/** Every part of an attempt, by name. */
function partsOf(attempt: AttemptView): Map<string, string> {
  const { request, response, droppedResponse, outcome, tookMs, chaos } = attempt;
  const answer = droppedResponse ?? response;
  const parts = new Map([
    ['Result', responseText(attempt)],
    ['Outcome', outcome ?? 'none'],
    ['Duration', tookMs === undefined ? 'none' : took(tookMs)],
    ['Chaos', chaos.join(', ') || 'none'],
    ['Request URL', request.url],
  ]);
  for (const [name, value] of Object.entries(request.headers)) parts.set(`Request ${name}`, value);
  parts.set('Request body', request.body);
  if (answer?.kind !== 'status') return parts;
  for (const [name, value] of Object.entries(answer.headers))
    parts.set(`Response ${name}`, [value ?? ''].flat().join(', '));
  return parts.set('Response body', answer.body);
}
