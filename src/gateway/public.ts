/** `windrow/gateway`: the server between an agent and its provider, for one's own program. docs/gateway.md describes it. */
export { serveGateway } from "./proxy/server.ts";
export type { Gateway, GatewayLimits, ServeGatewayOptions } from "./proxy/server.ts";
export type { GatewayEvent, Outcome } from "./proxy/events.ts";
export { openLines } from "./lines/lines.ts";
export type { LinesEvent, LinesOptions } from "./lines/lines.ts";
export { keptSecret, passingSecret } from "./secret.ts";
export { tenantsBy } from "./tenant.ts";
export type { TenantOf } from "./tenant.ts";
export { wireApis } from "./wire/apis.ts";
export type * from "./gateway.ts";
export type { Answer } from "../shape/shape.ts";
