// SPDX-License-Identifier: Apache-2.0

internal import PosthornCLI
internal import PushNet

AdminProgram.main(ProcessFacts.arguments)
