import type { ToTerm } from '@call-webhooks/client';
import type { Message } from '../activity/message.ts';

const within = (part: string, whole: string) => whole.toLowerCase().includes(part.toLowerCase());

/**
 * Plain text: every word of it stands in the subject, or in a recipient's name or address. The spec
 * says that subjects and recipients are searched; how words are combined is a guess.
 */
export function matchesText({ subject, recipients }: Message, text: string): boolean {
  const searched = [subject, ...recipients.flatMap(({ name, email }) => [name ?? '', email])];
  return text.split(' ').every((word) => searched.some((one) => within(word, one)));
}

/**
 * `to:`, on to, cc and bcc: an exact address, a domain, or a part of the display name. The local
 * part of an address is never searched.
 */
export function matchesTo({ recipients }: Message, term: ToTerm): boolean {
  const value = term.value.toLowerCase();
  return recipients.some(({ email, name }) => {
    const address = email.toLowerCase();
    switch (term.kind) {
      case 'email':
        return address === value;
      case 'domain':
        return address.endsWith(`@${value}`);
      case 'name':
        return name !== null && within(value, name);
    }
  });
}
