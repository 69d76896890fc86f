// The sessions of people who have signed in.

export interface Session {
  id: string;
  owner: string;
  name: string;
  isOperator: boolean;
  /** Epoch milliseconds, as all times. */
  created: number;
  used: number;
  /** When it ends without another request. */
  ends: number;
  /** This page sends its requests with it. */
  isCurrent: boolean;
}
