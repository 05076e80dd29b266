import type { Answer } from './post.ts';

/** What the service makes of an answer (spec, "Errors"). */
export type Judgement = 'acknowledged' | 'pauses-rule' | 'retried';

export function judge(answer: Answer): Judgement {
  if (answer.kind !== 'status') return 'retried';
  if (answer.status >= 200 && answer.status < 300) return 'acknowledged';
  return answer.status === 404 ? 'pauses-rule' : 'retried';
}

/** The answer in a few words. */
export function described(answer: Answer): string {
  if (answer.kind === 'timeout') return 'no answer in time';
  return answer.kind === 'status' ? String(answer.status) : answer.code;
}

/** The judgement in words. */
export const MEANING: Readonly<Record<Judgement, string>> = {
  acknowledged: 'acknowledged',
  'pauses-rule': 'the service would pause the rule at once',
  retried: 'the service would retry in about 5 minutes',
};
