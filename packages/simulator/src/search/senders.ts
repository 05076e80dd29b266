import type { FromTerm } from '@call-webhooks/client';
import type { Directory, User } from '../activity/directory.ts';

/** `from:`: who may have sent a message, by the `_id` of users. `myself` is the token's owner. */
export function senders(term: FromTerm, directory: Directory): ReadonlySet<string> {
  if (term.kind === 'myself') return new Set([directory.user()._id]);
  const wanted = term.value.toLowerCase();
  const { users, teams } = directory.workspace;
  const team = teams.find(({ name }) => name.toLowerCase() === wanted);
  const sent = (user: User) =>
    term.kind === 'email'
      ? user.email.toLowerCase() === wanted
      : team !== undefined && user.teamIds.includes(team._id);
  return new Set(users.filter(sent).map(({ _id }) => _id));
}
