import { Badge } from '@call-webhooks/ui';
import type { DeliveryRow } from '../../src/api-types.ts';
import { useOutcome } from '../model/session.ts';
import { RESULTS } from '../model/words.ts';

/** The meaning of an outcome, and what to do about it. */
export function OutcomeWords({ code }: { readonly code: string }) {
  const row = useOutcome(code);
  if (!row) return <>This outcome is from a newer version.</>;
  return (
    <>
      {row.when} <span class="fix">{row.fix}</span>
    </>
  );
}

/** Acknowledged, and yet somebody has to do something. */
export const isDeadLetter = ({ outcome }: Pick<DeliveryRow, 'outcome'>): boolean =>
  outcome === 'dead-lettered' || outcome === 'in-dead-letters';

/** Whether a delivery was acknowledged, in colour and words. */
export const ResultBadge = ({ result, outcome }: Pick<DeliveryRow, 'result' | 'outcome'>) => {
  if (isDeadLetter({ outcome })) return <Badge tone="bad">Dead letter</Badge>;
  const [text, tone] = RESULTS[result];
  const icon = { acknowledged: 'check', failed: 'cross', refused: 'minus' } as const;
  return (
    <Badge tone={tone} icon={icon[result]}>
      {text}
    </Badge>
  );
};
