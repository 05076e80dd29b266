import type { DeadLetters, StoredDeadLetter } from '@call-webhooks/core';

/**
 * The letters of one tenant, or those without one: only these can be claimed. The URL and the secret of
 * a redrive are of one tenant, and the receiver would take the event of another for its own.
 * @param onOther told of a letter that cannot
 */
export function lettersOfTenant(
  deadLetters: DeadLetters,
  tenant: string | undefined,
  onOther: (letter: StoredDeadLetter) => void,
): DeadLetters {
  return {
    ...deadLetters,
    async claim(id, claim) {
      const letter = await deadLetters.get(id);
      if (!letter || letter.tenant === tenant) return deadLetters.claim(id, claim);
      onOther(letter);
      return undefined;
    },
  };
}
