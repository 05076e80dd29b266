import { Badge, type IconName } from '@call-webhooks/ui';
import type { Result } from '../../src/api-types.ts';
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

const ICONS: Partial<Record<Result, IconName>> = {
  handled: 'check',
  failed: 'cross',
  rejected: 'minus',
};

/** What a delivery came to, in colour and words. */
export const ResultBadge = ({ result }: { readonly result: Result }) => {
  const [text, tone] = RESULTS[result];
  return (
    <Badge tone={tone} icon={ICONS[result]}>
      {text}
    </Badge>
  );
};
