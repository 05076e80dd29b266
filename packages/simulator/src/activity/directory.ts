import { SimulatorError } from '../errors.ts';

/** A user of the simulated service. */
export interface User {
  readonly _id: string;
  readonly name: string;
  readonly email: string;
  /** Whether the user is an admin. Admins get the emails about workspace rules. */
  readonly admin?: boolean;
  /** The `_id`s of the user's teams. */
  readonly teamIds: readonly string[];
}

/** A team of the simulated workspace. */
export interface Team {
  readonly _id: string;
  readonly name: string;
}

/** A message template. */
export interface Template {
  readonly _id: string;
  readonly name: string;
  readonly title: string;
}

/** A sequence of messages that is sent automatically. */
export interface Sequence {
  readonly _id: string;
  readonly name: string;
}

/** The simulated workspace: its users and teams, and the templates and sequences of their messages. */
export interface Workspace {
  readonly _id: string;
  /** The users, at least one. The first user owns the API token, and is `from:myself` in searches. */
  readonly users: readonly User[];
  readonly teams: readonly Team[];
  readonly templates: readonly Template[];
  readonly sequences: readonly Sequence[];
}

const id = (kind: number, number: number) =>
  `5f${String(kind).padStart(2, '0')}${String(number).padStart(20, '0')}`;

/** The default of the option `workspace`, with three invented users. */
export const DEFAULT_WORKSPACE: Workspace = {
  _id: id(1, 1),
  users: [
    { _id: id(2, 1), name: 'Ada Park', email: 'ada@workspace.example', teamIds: [id(3, 1)] },
    {
      _id: id(2, 2),
      name: 'Ben Ito',
      email: 'ben@workspace.example',
      admin: true,
      teamIds: [id(3, 1), id(3, 2)],
    },
    {
      _id: id(2, 3),
      name: 'Cleo Moss',
      email: 'cleo@workspace.example',
      admin: true,
      teamIds: [id(3, 2)],
    },
  ],
  teams: [
    { _id: id(3, 1), name: 'Inside Sales' },
    { _id: id(3, 2), name: 'Renewals' },
  ],
  templates: [
    { _id: id(4, 1), name: 'intro', title: 'First hello' },
    { _id: id(4, 2), name: 'intro-follow-up', title: 'Second hello' },
    { _id: id(4, 3), name: 'pricing', title: 'Price list' },
  ],
  sequences: [
    { _id: id(5, 1), name: 'Spring outreach' },
    { _id: id(5, 2), name: 'Spring renewals' },
  ],
};

/** Looks up users. */
export class Directory {
  readonly workspace: Workspace;

  constructor(workspace: Workspace) {
    this.workspace = workspace;
  }

  /** A user by `_id`; the first one by default. @throws SimulatorError `not-found` */
  user(userId?: string): User {
    const { users } = this.workspace;
    const user = userId === undefined ? users[0] : users.find(({ _id }) => _id === userId);
    if (!user) throw new SimulatorError('not-found', 'The workspace has no user with this id.');
    return user;
  }

  admins(): readonly User[] {
    return this.workspace.users.filter((user) => user.admin);
  }
}
