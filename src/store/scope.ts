/** The scope of a call: the tenant and the user whose sessions it reaches. */

/**
 * On whose behalf a call is made. A store shows and writes only what belongs to the scope: a session created under
 * `{ tenant: "a" }` does not exist for `{ tenant: "b" }`. An absent `user` sees every user of its tenant.
 */
export interface Scope {
  readonly tenant?: string;
  readonly user?: string;
}
