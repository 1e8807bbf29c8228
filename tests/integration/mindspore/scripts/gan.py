"""A GAN: four graphs a loop (gradients and Adam of generator and discriminator), graph mode without jit."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
ms.set_seed(1)
rng = np.random.default_rng(0)

generator = nn.SequentialCell(nn.Dense(8, 16), nn.LeakyReLU(0.2), nn.Dense(16, 12), nn.Tanh())
discriminator = nn.SequentialCell(nn.Dense(12, 16), nn.LeakyReLU(0.2), nn.Dense(16, 1), nn.Sigmoid())
adversarial = nn.BCELoss(reduction="mean")
optimizer_g = nn.Adam(generator.trainable_params(), 2e-3, beta1=0.5)
optimizer_d = nn.Adam(discriminator.trainable_params(), 2e-3, beta1=0.5)
optimizer_g.update_parameters_name("optimizer_g.")
optimizer_d.update_parameters_name("optimizer_d.")


def generator_loss(noise, valid):
    fake = generator(noise)
    return adversarial(discriminator(fake), valid), fake


def discriminator_loss(real, fake, valid, wrong):
    return (adversarial(discriminator(real), valid) + adversarial(discriminator(fake), wrong)) / 2


gradient_g = ops.value_and_grad(generator_loss, None, optimizer_g.parameters, has_aux=True)
gradient_d = ops.value_and_grad(discriminator_loss, None, optimizer_d.parameters)
generator.set_train()
discriminator.set_train()
valid, wrong = Tensor(np.ones((8, 1), np.float32)), Tensor(np.zeros((8, 1), np.float32))
for number in range(4):
    real = Tensor(rng.standard_normal((8, 12)).astype(np.float32))
    noise = Tensor(rng.standard_normal((8, 8)).astype(np.float32))
    (loss_g, fake), gradients = gradient_g(noise, valid)
    optimizer_g(gradients)
    loss_d, gradients = gradient_d(real, fake, valid, wrong)
    optimizer_d(gradients)
    print("loss", number + 1, loss_g.asnumpy().tobytes().hex(), loss_d.asnumpy().tobytes().hex(), flush=True)
